/* pool.c: libFuzzer against damaged pools: whatever a file says, opening and checking it ends in a
 * typed error or in a pool that works.
 *
 * An input names one of the images below and what is changed in it. Random bytes alone would only
 * ever show that checksums work, so changes to what is checksummed are captured anew: then the code
 * behind the checksum is reached with values that no library wrote.
 *
 * Image: a pool file as a process left it that was killed, or closed it. Change: one byte that says
 * which part of the file, then place and value (struct change).
 */
#define _GNU_SOURCE
#include "pool/pool.h"
#include "base/checksum.h"
#include "base/kill.h"
#include "core/header.h"
#include "format/layout.h"
#include "log/log.h"
#include "store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IMAGES = 10, SIZE_MAX_IMAGE = 4 << 20, FRAMES = 512, WORDS = 64, ROUNDS = 12 };

/* Left by a process that was killed at this step; null: closed. */
static const struct recipe {
  const char *method, *domain, *kill;
} recipes[IMAGES] = {{"undo", "process", NULL},        {"shadow", "process", NULL},
                     {"undo", "process", "append:40"}, {"shadow", "process", "append:9"},
                     {"undo", "power", "commit:33"},   {"shadow", "power", "commit:22"},
                     {"undo", "power", "append:61"},   {"shadow", "power", "commit:27"},
                     {"undo", "process", "grow:2"},    {"undo", "power", "append:3"}};

static struct image {
  char *bytes;
  size_t size;
  uint32_t frame[FRAMES], frames; /* offsets of log entries, of segments */
  uint32_t segment[FRAMES], segments;
  struct nvmi_key key;
  uint64_t id_seed;
} images[IMAGES];

static char path[64];
static int file;
static bool loud; /* faults are printed: there should be none */

static void need(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "%s: %s\n", what, nvm_strerror());
  abort();
}

/* What only the writer describes: the pool alone tells the reader. */
static const int64_t kinds[] = {1, 2};
static const struct nvm_when when = {
    .offset = 8, .first_bit = 3, .bits = 9, .follows = 1, .count = 2, .values = kinds};
static const struct nvm_field fields[] = {
    {.name = "next", .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER},
    {.name = "each",
     .offset = 16,
     .count = 3,
     .stride = 16,
     .kind = NVM_FIELD_POINTER,
     .when = &when},
    {.name = "either", .offset = 56, .count = 1, .stride = 8, .kind = NVM_FIELD_UNION},
    {.name = "tail", .target = 3, .offset = 64, .stride = 8, .kind = NVM_FIELD_FLEXIBLE_ARRAY}};
static const struct nvm_type type = {.id = 2,
                                     .name = "struct thing",
                                     .members = "0 8 pointer next\n",
                                     .size = 64,
                                     .alignment = 8,
                                     .field_count = 4,
                                     .fields = fields};
__attribute__((section(NVM_TYPES_SECTION), used)) static const struct nvm_type *described;

/* Small and large blocks, freed ones, an abort, more than the pool has at first. */
static void write_pool(const char *name) {
  NVM_POOL *pool = nvm_pool_create(name, 1 << 20);
  need(pool != NULL, "create");
  nvm_tx_begin(pool);
  void **slots = nvm_calloc(pool, 0, WORDS, sizeof *slots);
  nvm_pool_set_root(pool, slots);
  nvm_tx_commit(pool);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    nvm_tx_begin(pool);
    for (uint64_t i = 0; i < 5; i++) {
      void **slot = &slots[(round * 7 + i) % WORDS];
      void *block = nvm_alloc(pool, round, i == 4 ? 100000 : 24 << i);
      nvm_free(*slot);
      STORE(*slot, block);
    }
    if (round % 4 == 3)
      nvm_tx_abort(pool);
    else
      nvm_tx_commit(pool);
  }
  nvm_pool_close(pool);
}

static void make_file(const struct recipe *recipe, const char *name) {
  pid_t child = fork();
  if (child == 0) {
    setenv("NVMOVE_METHOD", recipe->method, 1);
    setenv("NVMOVE_DOMAIN", recipe->domain, 1);
    if (recipe->kill)
      setenv("NVMOVE_KILL_AT", recipe->kill, 1);
    described = &type;
    if (freopen("/dev/null", "w", stderr))
      write_pool(name);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (recipe->kill && !WIFSIGNALED(status))
    fprintf(stderr, "%s is never reached\n", recipe->kill), abort();
}

static void find_parts(struct image *image) {
  const struct nvm_header *h = (const void *)image->bytes;
  struct nvm_pool pool = {.header = *h};
  nvmi_header_seeds(&pool);
  image->key = pool.key;
  image->id_seed = pool.id_seed;
  for (uint64_t at = h->heap_offset; at + 64 <= image->size; at += 64) {
    const struct nvm_frame *frame = (const void *)(image->bytes + at);
    const struct nvm_segment *segment = (const void *)frame;
    if (segment->self == at && segment->size % NVM_CHUNK_SIZE == 0 && image->segments < FRAMES)
      image->segment[image->segments++] = (uint32_t)at;
    else if (NVM_FRAME_KIND(frame) >= NVM_FRAME_UNDO && NVM_FRAME_KIND(frame) <= NVM_FRAME_VOID &&
             NVM_FRAME_LENGTH(frame) <= image->size - at - sizeof *frame &&
             frame->check == nvmi_check_by(&image->key, &frame->transaction,
                                           sizeof *frame - 8 + NVM_FRAME_LENGTH(frame)) &&
             image->frames < FRAMES)
      image->frame[image->frames++] = (uint32_t)at;
  }
}

static void make_image(const struct recipe *recipe, struct image *image) {
  char name[] = "/dev/shm/nvmove-fuzz.XXXXXX";
  need(mkdtemp(name) != NULL, name);
  char pool[sizeof name + 8];
  snprintf(pool, sizeof pool, "%s/pool", name);
  make_file(recipe, pool);
  int fd = open(pool, O_RDONLY);
  struct stat status;
  need(fd >= 0 && fstat(fd, &status) == 0 && status.st_size <= SIZE_MAX_IMAGE, pool);
  image->size = (size_t)status.st_size;
  image->bytes = malloc(image->size);
  need(read(fd, image->bytes, image->size) == (ssize_t)image->size, pool);
  close(fd);
  unlink(pool);
  rmdir(name);
  find_parts(image);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  for (int i = 0; i < IMAGES; i++)
    make_image(&recipes[i], &images[i]);
  file = memfd_create("pool", 0);
  need(file >= 0, "memfd_create");
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return 0;
}

enum part { RAW, HEADER, FRAME, SEGMENT, CHUNK, TYPE, FIXED, PARTS };

/* As it stands in an input, `length` bytes of the value behind it. */
struct change {
  uint8_t part, length;
  uint8_t place[3]; /* within the part, little-endian */
};

static void seal_header(struct nvm_header *h) {
  h->check = 0;
  h->check = nvmi_check(h, sizeof *h, 0);
}

static void seal_frame(const struct image *image, char *bytes, uint64_t at) {
  struct nvm_frame *frame = (void *)(bytes + at);
  uint64_t length = NVM_FRAME_LENGTH(frame);
  if (length <= image->size - at - sizeof *frame)
    frame->check = nvmi_check_by(&image->key, &frame->transaction, sizeof *frame - 8 + length);
}

static void seal_segment(const struct image *image, struct nvm_segment *segment) {
  segment->check = nvmi_check(
      &segment->self, offsetof(struct nvm_segment, reserved) - offsetof(struct nvm_segment, self),
      image->id_seed);
}

static void seal_type(const struct image *image, char *bytes, struct nvm_type_entry *entry) {
  if (entry->record >= image->size || entry->size > image->size - entry->record)
    return;
  uint64_t words[] = {entry->id, entry->record, entry->size,
                      nvmi_check(bytes + entry->record, entry->size, image->id_seed)};
  entry->check = nvmi_check(words, sizeof words, image->id_seed);
}

static uint64_t type_entry(const struct change *c) {
  return NVM_TYPES_OFFSET + c->place[1] % 16 * sizeof(struct nvm_type_entry);
}

/* Of the record that the type's entry leads to, or of the entry. */
static uint64_t type_part(const struct image *image, const struct change *c, uint64_t *size) {
  const struct nvm_type_entry *entry = (const void *)(image->bytes + type_entry(c));
  *size = sizeof *entry;
  if (!(c->place[2] & 1) || !entry->size || entry->record >= image->size)
    return type_entry(c);
  *size = entry->size;
  return entry->record;
}

/* Where the part of a change begins in the file, and how long it is. */
static uint64_t part_of(const struct image *image, const struct change *c, uint64_t *size) {
  uint64_t place = c->place[1] | (uint64_t)c->place[2] << 8;
  *size = 64;
  switch (c->part % PARTS) {
  case HEADER:
    *size = sizeof(struct nvm_header);
    return place % 2 * NVM_HEADER_COPY_SIZE;
  case FRAME:
    return image->frames ? image->frame[place % image->frames] : 0;
  case SEGMENT:
    return image->segments ? image->segment[place % image->segments] : 0;
  case CHUNK:
    *size = 8;
    return NVM_CHUNKS_OFFSET + place % 512 * 8;
  case TYPE:
    return type_part(image, c, size);
  case FIXED:
    *size = 256;
    return place % 4 == 0 ? NVM_FLOOR_OFFSET : place % 4 == 1 ? NVM_ROOT_OFFSET : NVM_SLOTS_OFFSET;
  default:
    *size = 256;
    return place << 8;
  }
}

static void change(const struct image *image, char *bytes, const struct change *c,
                   const uint8_t *value, size_t length) {
  uint64_t size, at = part_of(image, c, &size), from = c->place[0] % size;
  length = length < size - from ? length : size - from;
  if (at + from + length > image->size || at + size > image->size)
    return;
  memcpy(bytes + at + from, value, length);
  switch (c->part % PARTS) {
  case HEADER:
    seal_header((void *)(bytes + at));
    break;
  case FRAME:
    seal_frame(image, bytes, at);
    break;
  case SEGMENT:
    seal_segment(image, (void *)(bytes + at));
    break;
  case TYPE:
    seal_type(image, bytes, (void *)(bytes + type_entry(c)));
    break;
  }
}

static void place_image(const struct image *image, const uint8_t *data, size_t size) {
  need(ftruncate(file, 0) == 0 && ftruncate(file, (off_t)image->size) == 0, "ftruncate");
  char *bytes = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  need(bytes != MAP_FAILED, "mmap");
  memcpy(bytes, image->bytes, image->size);
  while (size > sizeof(struct change)) {
    struct change c;
    memcpy(&c, data, sizeof c);
    data += sizeof c;
    size -= sizeof c;
    size_t length = 1 + c.length % 16;
    length = length < size ? length : size;
    change(image, bytes, &c, data, length);
    data += length;
    size -= length;
  }
  munmap(bytes, image->size);
}

static void count_fault(void *count, const char *line) {
  need(*line != 0, "a fault without a word");
  if (loud)
    fprintf(stderr, "%s\n", line);
  ++*(int *)count;
}

/* A pool in which nothing is found works. */
static void use(NVM_POOL *pool) {
  need(nvm_tx_begin(pool) == 0, "begin");
  char *small = nvm_alloc(pool, 0, 100), *large = nvm_alloc(pool, 0, 70000);
  if (!small || !large) {
    need(nvm_errno() != NVM_OK, "no block and no error");
    nvm_tx_abort(pool);
    return;
  }
  STORE(*small, 1);
  STORE(large[69999], 1);
  need(nvm_tx_commit(pool) == 0, "commit");
  need(nvm_tx_begin(pool) == 0 && nvm_free(small) == 0 && nvm_free(large) == 0, "free");
  need(nvm_tx_commit(pool) == 0, "commit");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  place_image(&images[data[0] % IMAGES], data + 1, size - 1);
  int faults = 0;
  if (nvm_pool_check(path, count_fault, &faults) < 0)
    need(nvm_errno() != NVM_OK && *nvm_strerror(), "a check that fails without a word");
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool) {
    need(nvm_errno() != NVM_OK && *nvm_strerror(), "an opening that fails without a word");
    return 0;
  }
  faults = 0;
  bool sound = nvm_pool_verify(pool, count_fault, &faults) == 0;
  need(sound == !faults, "faults are counted");
  if (sound)
    use(pool);
  need(nvm_pool_close(pool) == 0, "close");
  if (sound) {
    loud = true;
    need(nvm_pool_check(path, count_fault, &faults) == 0, "a sound pool, closed, is damaged");
    need((pool = nvm_pool_open(path)) && nvm_pool_close(pool) == 0, "open again");
    loud = false;
  }
  return 0;
}
