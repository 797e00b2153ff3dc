/* header.c: what makes a file a pool, and why a file is not one.
 *
 * A copy is judged in the order magic, format, checksum, fields: a newer format may sum up
 * differently, and a checksum that holds still does not make a nonsensical field sensible
 * (invariant I1 of layout.h).
 */
#define _GNU_SOURCE
#include "core/header.h"
#include "base/uncancelled.h"

#include "base/checksum.h"
#include "base/invariant.h"
#include "core/map.h"
#include "format/address.h"
#include "platform/disk.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE_MIN = 1 << 20, GROWTH_FACTOR = 4, PAGE = 4096 };

uint64_t nvmi_chunk_table_size(uint64_t heap_size) {
  return ((heap_size >> NVM_CHUNK_SHIFT) * 8 + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

void nvmi_header_seeds(struct nvm_pool *pool) {
  pool->id_seed = nvmi_check(pool->header.id, sizeof pool->header.id, 0);
  nvmi_key_set(&pool->key, pool->id_seed ^ pool->header.generation * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t nvmi_header_check(const struct nvm_header *header) {
  struct nvm_header copy = *header;
  copy.check = 0;
  return nvmi_check(&copy, sizeof copy, 0);
}

/* The build id of the running program: an ELF note that the linker wrote. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *result) {
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_NOTE)
      continue;
    const char *at = (const char *)info->dlpi_addr + part->p_vaddr, *end = at + part->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *note = (const void *)at;
      const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
        memcpy(result, data, note->n_descsz < 32 ? note->n_descsz : 32);
      at = data + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1; /* the program itself comes first; libraries are not asked */
}

void nvmi_header_name_program(struct nvm_header *header) {
  memset(header->build_id, 0, sizeof header->build_id);
  nvmi_each_module(find_build_id, header->build_id);
}

int nvmi_header_init(struct nvm_pool *pool, uint64_t size) {
  const uint64_t granule = UINT64_C(1) << NVMI_GRANULE_SHIFT;
  if (size < SIZE_MIN)
    return nvmi_fail(NVM_EARGUMENT, pool->path,
                     "a pool of %llu bytes; 1 MiB is the least, ask for more",
                     (unsigned long long)size);
  if (size > NVM_RANGE_SIZE / GROWTH_FACTOR)
    return nvmi_fail(NVM_ETOOLARGE, pool->path,
                     "a pool of %llu GiB; %llu GiB is the most, ask for less",
                     (unsigned long long)(size >> 30),
                     (unsigned long long)(NVM_RANGE_SIZE / GROWTH_FACTOR >> 30));
  struct nvm_header *h = &pool->header;
  pool->header_copy = 1;
  h->magic = NVM_MAGIC;
  h->format = NVM_FORMAT;
  h->header_size = sizeof *h;
  for (h->range = granule; h->range < GROWTH_FACTOR * size; h->range *= 2) /* relocate.h says why */
    ;
  h->heap_offset = NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(h->range);
  h->heap_size = (size - NVM_CHUNKS_OFFSET - nvmi_chunk_table_size(size)) & ~(NVM_CHUNK_SIZE - 1);
  h->generation = 1;
  h->state = NVM_STATE_OPEN;
  h->log_format = NVM_LOG_FORMAT;
  nvmi_header_name_program(h);
  if (NVMI_UNCANCELLED(getrandom(h->id, sizeof h->id, 0)) != (ssize_t)sizeof h->id)
    return nvmi_fail(NVM_ESYSTEM, pool->path, "no random number for the pool's id: %s",
                     strerror(errno));
  nvmi_header_seeds(pool);
  return 0;
}

void nvmi_header_write(struct nvm_pool *pool) {
  struct nvm_header *h = &pool->header;
  NVMI_HOLDS(nvmi_header_senseless(h));
  h->sequence++;
  h->check = nvmi_header_check(h);
  /* Crash between the fences: the copy that comes first is new or torn, the other holds the state
   * before: it is the one that was read, since the crash before may have torn the other. */
  for (unsigned i = 0; i < 2; i++) {
    unsigned copy = (pool->header_copy + 1 + i) % 2;
    pool->persist->stream(pool->home + copy * NVM_HEADER_COPY_SIZE, h, sizeof *h);
    pool->persist->fence();
  }
}

const char *nvmi_header_senseless(const struct nvm_header *h) {
  const uint64_t granule = UINT64_C(1) << NVMI_GRANULE_SHIFT;
  if (h->header_size != sizeof *h)
    return "header size";
  if (h->range < granule || h->range & (h->range - 1) || h->range > NVM_RANGE_SIZE)
    return "range";
  if (!nvmi_is_base(h, h->base) || h->moves > NVM_MOVES_MAX)
    return "base address";
  for (uint32_t i = 0; i < h->moves; i++)
    if (!nvmi_is_base(h, h->moved_from[i]))
      return "former base address";
  if (h->heap_offset != NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(h->range))
    return "heap offset";
  if (!h->heap_size || h->heap_size % NVM_CHUNK_SIZE || h->heap_size > h->range - h->heap_offset)
    return "heap size";
  if (h->statics > NVM_STATICS_TOKENS)
    return "state of static pointers";
  if (h->counts && (h->counts < h->heap_offset || h->counts >= h->heap_offset + h->heap_size ||
                    (h->counts - h->heap_offset) % NVM_CHUNK_SIZE))
    return "place of reference counts";
  if (!h->generation)
    return "generation";
  if (h->state != NVM_STATE_CLEAN && h->state != NVM_STATE_OPEN)
    return "state";
  if (h->method != NVM_METHOD_UNDO && h->method != NVM_METHOD_SHADOW)
    return "method";
  if (h->log_format != NVM_LOG_FORMAT && h->log_format != NVM_LOG_FORMAT_DELAYED)
    return "log format";
  if (h->domain < NVM_DOMAIN_PROCESS || h->domain > NVM_DOMAIN_DISK)
    return "domain";
  return NULL;
}

struct judged {
  struct nvm_header header;
  enum nvm_error fault;
  const char *field;
};

bool nvmi_header_begins(const struct nvm_header *header, size_t size) {
  const uint64_t magic = NVM_MAGIC;
  return size && memcmp(header, &magic, size < sizeof magic ? size : sizeof magic) == 0;
}

static struct judged judge(int fd, int copy) {
  struct judged j = {.fault = NVM_ECORRUPT, .field = "checksum"};
  ssize_t got = nvmi_disk_read(fd, &j.header, sizeof j.header, copy * NVM_HEADER_COPY_SIZE);
  if (got != (ssize_t)sizeof j.header)
    j.fault = got < 0 || nvmi_header_begins(&j.header, (size_t)got) ? NVM_ETRUNCATED : NVM_EFOREIGN;
  else if (nvmi_is_repair_mark(j.header.check))
    j.field = "a repair was interrupted";
  else if (j.header.magic != NVM_MAGIC)
    j.fault = NVM_EFOREIGN;
  else if (j.header.format > NVM_FORMAT)
    j.fault = NVM_EVERSION;
  else if (j.header.format == NVM_FORMAT && j.header.check == nvmi_header_check(&j.header) &&
           !(j.field = nvmi_header_senseless(&j.header)))
    j.fault = NVM_OK;
  return j;
}

static int refuse(struct nvm_pool *pool, const struct judged *a, const struct judged *b) {
  const struct judged *worst = a->fault == NVM_EFOREIGN ? b : a;
  switch (worst->fault) {
  case NVM_EVERSION:
    return nvmi_fail(NVM_EVERSION, pool->path,
                     "format %u is newer than this library's %u; update nvmove",
                     worst->header.format, NVM_FORMAT);
  case NVM_EFOREIGN:
    return nvmi_fail(NVM_EFOREIGN, pool->path, "this is no pool of nvmove; check the path");
  case NVM_ETRUNCATED:
    return nvmi_fail(NVM_ETRUNCATED, pool->path, "the file ends within the header; restore a copy");
  default:
    return nvmi_fail(NVM_ECORRUPT, pool->path,
                     "both copies of the header are bad (%s); " NVMI_REPAIR_HINT, worst->field);
  }
}

int nvmi_header_read(struct nvm_pool *pool) {
  struct stat status;
  if (fstat(pool->fd, &status))
    return nvmi_disk_fail(pool->path, "cannot be examined");
  if (!S_ISREG(status.st_mode))
    return nvmi_fail(NVM_EFOREIGN, pool->path, "not a regular file; check the path");
  if (status.st_size == 0)
    return nvmi_fail(
        NVM_EEMPTY, pool->path,
        "the file is empty; remove it, and create the pool anew ('nvmove pool create')");
  struct judged a = judge(pool->fd, 0), b = judge(pool->fd, 1);
  if (a.fault && b.fault)
    return refuse(pool, &a, &b);
  bool use_b = a.fault || (!b.fault && nvmi_header_is_newer(&b.header, &a.header));
  pool->header = use_b ? b.header : a.header;
  pool->header_copy = use_b;
  if ((uint64_t)status.st_size < nvmi_file_size(&pool->header))
    return nvmi_fail(
        NVM_ETRUNCATED, pool->path, "the file has %llu bytes of %llu; " NVMI_REPAIR_HINT,
        (unsigned long long)status.st_size, (unsigned long long)nvmi_file_size(&pool->header));
  nvmi_header_seeds(pool);
  return 0;
}

/* Between the tables and the heap a file has no blocks: it is long enough for a larger table. Crash meanwhile: no
 * byte of the file has changed. */
int nvmi_header_fill(const struct nvm_pool *pool) {
  const struct nvm_header *h = &pool->header;
  uint64_t tables = NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(h->heap_size);
  struct stat file;
  if (fstat(pool->fd, &file) == 0 && (uint64_t)file.st_blocks * 512 >= tables + h->heap_size)
    return 0;
  return nvmi_disk_fill(pool->path, pool->fd, 0, tables) ||
                 nvmi_disk_fill(pool->path, pool->fd, h->heap_offset, h->heap_size)
             ? -1
             : 0;
}
