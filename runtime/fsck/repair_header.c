/* repair_header.c: a header put together from what is left of its two copies.
 *
 * In this order: a copy that is whole; one that is whole but for a byte; what both copies say
 * alike, but for the checksum. A field that makes no sense although the checksum holds is derived
 * from the others, from the file's size, or from the root: the table below says how, and when it
 * cannot be.
 */
#define _GNU_SOURCE
#include "fsck/repair.h"

#include "core/header.h"
#include "core/map.h"
#include "format/address.h"
#include "platform/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool sums_up(void *context) {
  const struct nvm_header *header = context;
  return header->check == nvmi_header_check(header);
}

static uint64_t root_of(const struct nvmi_repair *repair) {
  uint64_t root = 0;
  ssize_t got = nvmi_disk_read(repair->pool->fd, &root, sizeof root, NVM_ROOT_OFFSET);
  return got == sizeof root ? root : 0;
}

/* The repairs of fields: false: not to be made out. Those before in the order of
 * nvmi_header_senseless are sensible. */
static bool mend_size(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->header_size = sizeof *h;
  return true;
}

static bool mend_range(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  for (h->range = UINT64_C(1) << NVMI_GRANULE_SHIFT; h->range <= NVM_RANGE_SIZE; h->range *= 2)
    if (h->heap_offset == NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(h->range))
      return true;
  return false;
}

static uint32_t former_bases(const struct nvm_header *h) {
  uint32_t count = 0;
  while (count < NVM_MOVES_MAX && h->moved_from[count])
    count++;
  return count;
}

/* Bases are multiples of the range: the root tells its own. */
static bool mend_base(struct nvmi_repair *repair, struct nvm_header *h) {
  if (h->moves > NVM_MOVES_MAX)
    h->moves = former_bases(h);
  if (!nvmi_is_base(h, h->base) && !h->moves)
    h->base = root_of(repair) & ~(h->range - 1);
  return nvmi_is_base(h, h->base);
}

static bool mend_former(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  uint32_t before = h->moves;
  h->moves = former_bases(h);
  return h->moves < before;
}

static bool mend_heap_offset(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->heap_offset = NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(h->range);
  return true;
}

static bool mend_heap_size(struct nvmi_repair *repair, struct nvm_header *h) {
  uint64_t most = h->range - h->heap_offset;
  if (repair->file_size < h->heap_offset + NVM_CHUNK_SIZE)
    return false;
  h->heap_size = (repair->file_size - h->heap_offset) & ~(NVM_CHUNK_SIZE - 1);
  h->heap_size = h->heap_size < most ? h->heap_size : most & ~(NVM_CHUNK_SIZE - 1);
  return true;
}

/* While static pointers are being bound anew the state says what they are. */
static bool mend_statics(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->statics = NVM_STATICS_BOUND; /* tokens, if there are some, are found as pointers out of it */
  return true;
}

/* Openings are counted, and each ends well or is counted as one that did not. */
static uint64_t openings(const struct nvm_header *h) {
  return h->clean_shutdowns + h->unclean_shutdowns;
}

/* A number that no opening had: no old log entry may count. In an open pool entries would be lost.
 */
static bool mend_generation(struct nvmi_repair *repair, struct nvm_header *h) {
  if (h->state != NVM_STATE_CLEAN && !repair->how->drop_log)
    return false;
  h->generation = (UINT64_C(1) << 32) + (uint32_t)openings(h);
  return true;
}

static bool mend_sequence(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->sequence = 1;
  return true;
}

static bool mend_state(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->state = openings(h) == h->generation ? NVM_STATE_CLEAN : NVM_STATE_OPEN;
  return openings(h) == h->generation || openings(h) + 1 == h->generation;
}

static bool mend_method(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->method = NVM_METHOD_UNDO; /* recovery reads what either wrote, the opening chooses anew */
  return true;
}

/* The formats differ in what proves a record, and only a pool on a disk has the second one. A closed
 * pool has no record that counts. */
static bool mend_log_format(struct nvmi_repair *repair, struct nvm_header *h) {
  h->log_format = NVM_LOG_FORMAT;
  return h->state == NVM_STATE_CLEAN || repair->how->drop_log || h->domain == NVM_DOMAIN_PROCESS ||
         h->domain == NVM_DOMAIN_POWER;
}

static bool mend_domain(struct nvmi_repair *repair, struct nvm_header *h) {
  (void)repair;
  h->domain = NVM_DOMAIN_PROCESS; /* for people: the next opening finds out */
  return true;
}

static const struct {
  const char *field; /* as nvmi_header_senseless names it */
  bool (*mend)(struct nvmi_repair *, struct nvm_header *);
} fields[] = {{"header size", mend_size},
              {"range", mend_range},
              {"base address", mend_base},
              {"former base address", mend_former},
              {"heap offset", mend_heap_offset},
              {"heap size", mend_heap_size},
              {"state of static pointers", mend_statics},
              {"state", mend_state},
              {"generation", mend_generation},
              {"sequence", mend_sequence},
              {"method", mend_method},
              {"log format", mend_log_format},
              {"domain", mend_domain}};

static bool mend_field(struct nvmi_repair *repair, struct nvm_header *h, const char *field) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(fields[i].field, field) == 0)
      return fields[i].mend(repair, h);
  return false;
}

/* Whether what sums up is a header, or becomes one. `said`: what was mended. */
static int mend_fields(struct nvmi_repair *repair, struct nvm_header *h, char *said, size_t room) {
  if (h->format > NVM_FORMAT)
    return nvmi_fail(NVM_EVERSION, repair->pool->path,
                     "format %u is newer than this library's %u; update nvmove", h->format,
                     NVM_FORMAT);
  if (h->magic != NVM_MAGIC) {
    h->magic = NVM_MAGIC;
    snprintf(said, room, "magic");
  }
  /* The state goes first: what the generation may become hangs on it. */
  const char *field = h->state != NVM_STATE_CLEAN && h->state != NVM_STATE_OPEN
                          ? "state"
                          : nvmi_header_senseless(h);
  for (unsigned tries = 0; field && tries < 2 * sizeof fields / sizeof *fields; tries++) {
    if (!mend_field(repair, h, field))
      return nvmi_fail(NVM_ECORRUPT, repair->pool->path,
                       "the header's %s cannot be made out; restore a copy", field);
    size_t used = strlen(said);
    snprintf(said + used, room - used, "%s%s", used ? ", " : "", field);
    field = nvmi_header_senseless(h);
  }
  return field ? nvmi_fail(NVM_ECORRUPT, repair->pool->path,
                           "the header's %s cannot be made out; restore a copy", field)
               : 0;
}

/* A copy of which all but a byte holds, or of which the other says the same. */
static bool mend_sum(struct nvm_header copy[2], char *said, size_t room) {
  for (unsigned i = 0; i < 2; i++) {
    uint64_t want = nvmi_header_check(&copy[i]);
    long long at = nvmi_bytes_changed(want, copy[i].check) == 1
                       ? (long long)offsetof(struct nvm_header, check)
                       : nvmi_mend_byte(&copy[i], sizeof copy[i], sums_up, &copy[i]);
    if (at < 0)
      continue;
    copy[i].check = nvmi_header_check(&copy[i]);
    copy[!i] = copy[i];
    snprintf(said, room, "byte %lld of copy %u", at, i + 1);
    return true;
  }
  struct nvm_header other = copy[1];
  other.check = copy[0].check;
  if (memcmp(&other, &copy[0], sizeof other) != 0 || copy[0].magic != NVM_MAGIC)
    return false;
  copy[0].check = nvmi_header_check(&copy[0]);
  copy[1] = copy[0];
  snprintf(said, room, "checksums");
  return true;
}

static bool is_whole(const struct nvm_header *h) {
  return h->magic == NVM_MAGIC && h->format == NVM_FORMAT && sums_up((void *)h) &&
         !nvmi_header_senseless(h);
}

/* Both copies; 0, or a recorded failure. */
static int read_copies(const struct nvm_pool *pool, struct nvm_header copy[2]) {
  bool whole = true, ours = false;
  for (unsigned i = 0; i < 2; i++) {
    ssize_t got = nvmi_disk_read(pool->fd, &copy[i], sizeof copy[i], i * NVM_HEADER_COPY_SIZE);
    if (got < 0)
      return nvmi_disk_fail(pool->path, "cannot be read");
    whole &= got == sizeof copy[i];
    ours |= nvmi_header_begins(&copy[i], (size_t)got);
  }
  if (whole)
    return 0;
  return ours ? nvmi_fail(NVM_ETRUNCATED, pool->path,
                          "the file ends within the header; restore a copy")
              : nvmi_fail(NVM_EFOREIGN, pool->path, "this is no pool of nvmove; check the path");
}

int nvmi_repair_header(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  struct nvm_header copy[2];
  char said[256] = "";
  if (read_copies(pool, copy))
    return -1;
  bool whole[2] = {is_whole(&copy[0]), is_whole(&copy[1])};
  bool differ = memcmp(&copy[0], &copy[1], sizeof copy[0]) != 0;
  unsigned best = whole[1] && (!whole[0] || nvmi_header_is_newer(&copy[1], &copy[0]));
  if (!whole[0] && !whole[1]) {
    if (!sums_up(&copy[0]) && !sums_up(&copy[1]) && !mend_sum(copy, said, sizeof said))
      return copy[0].magic != NVM_MAGIC && copy[1].magic != NVM_MAGIC
                 ? nvmi_fail(NVM_EFOREIGN, pool->path, "this is no pool of nvmove; check the path")
                 : nvmi_fail(NVM_ECORRUPT, pool->path,
                             "more than a byte of both copies of the header is wrong; restore a "
                             "copy");
    best = !sums_up(&copy[0]);
    if (mend_fields(repair, &copy[best], said, sizeof said))
      return -1;
  }
  pool->header = copy[best];
  pool->header_copy = best;
  nvmi_header_seeds(pool);
  if (*said)
    nvmi_mended(repair, "the header: %s", said);
  else if (differ)
    nvmi_mended(repair, "the header: the copies differed");
  return 0;
}

void nvmi_repair_put_header(struct nvmi_repair *repair) { nvmi_header_write(repair->pool); }
