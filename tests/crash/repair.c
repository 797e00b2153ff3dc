// A power failure in a repair: the next repair ends with the same bytes, whatever of the words that were written since
// the last synchronisation of the file has arrived, also when it fails in its turn.
// RUN: %cc -O2 %s -Wl,--wrap=pwrite -Wl,--wrap=fsync -o %t && rm -f %pool*
// RUN: %t %pool %sizes{2|15} 1 | FileCheck %s
// CHECK: {{[0-9]+}} repairs, {{[0-9]+}} states, {{[0-9]+}} of them of a repair that finished another: none wrong
// RUN: rm -f %pool* && %exit 1 %t %pool 1 1 unordered | FileCheck --check-prefix=SEEN %s
// SEEN: states{{.*}}: {{[1-9][0-9]*}} wrong
#include "nvmove/nvmove.h"
#include "nvmove/repair.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITES_MAX = 512, BYTES_MAX = 1 << 16, ALL_MAX = 8, SAMPLES = 24, NESTED_EVERY = 4, NONE = 1 << 30 };

typedef NVM_STRUCT node {
  struct node *next;
  struct node *other;
  long value;
} node;

/* What was written to the pool's file, in words; a synchronisation where `size` is 0. */
struct record {
  struct write {
    off_t offset;
    size_t size;
    const char *bytes;
  } writes[WRITES_MAX];
  unsigned count;
  char bytes[BYTES_MAX];
  size_t used;
};

static const char *path;
static struct record *recording;
static bool unordered; /* forget the synchronisations: the test must see it */
static size_t size;
static char *damaged, *wanted;
static long wrong, states, nested, repairs;
static uint64_t seed;

static uint64_t draw(uint64_t below) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (seed >> 33) % below;
}

static bool is_pool(int fd) {
  struct stat it, pool;
  return recording && fstat(fd, &it) == 0 && stat(path, &pool) == 0 && it.st_ino == pool.st_ino;
}

static void record(off_t offset, const void *bytes, size_t length) {
  struct record *r = recording;
  if (r->count == WRITES_MAX || r->used + length > BYTES_MAX)
    exit(fprintf(stderr, "a repair that writes too much\n"));
  memcpy(r->bytes + r->used, bytes, length);
  r->writes[r->count++] = (struct write){offset, length, r->bytes + r->used};
  r->used += length;
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t length, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  if (is_pool(fd))
    for (size_t at = 0; at < length; at += 8)
      record(offset + (off_t)at, (const char *)bytes + at, length - at < 8 ? length - at : 8);
  return __real_pwrite(fd, bytes, length, offset);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd) {
  if (is_pool(fd) && !unordered)
    record(0, "", 0);
  return __real_fsync(fd);
}

static void load(char *image) {
  int fd = open(path, O_RDONLY);
  if (fd < 0 || pread(fd, image, size, 0) != (ssize_t)size)
    exit(fprintf(stderr, "%s cannot be read\n", path));
  close(fd);
}

static void store(const char *image) {
  struct record *kept = recording;
  recording = NULL;
  int fd = open(path, O_WRONLY | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, (off_t)size) || pwrite(fd, image, size, 0) != (ssize_t)size)
    exit(fprintf(stderr, "%s cannot be written\n", path));
  close(fd);
  recording = kept;
}

/* What repairs have kept, from this number on. */
static unsigned forget_kept(unsigned from) {
  unsigned number = 1;
  for (;; number++) {
    char name[4200];
    snprintf(name, sizeof name, "%s.repair-%u", path, number);
    if (number >= from ? unlink(name) : access(name, F_OK))
      break;
  }
  return number;
}

static long long repair(struct record *r) {
  struct nvm_repair how = {.null_dangling = true, .drop_log = true, .forget_types = true};
  recording = r;
  long long left = nvm_pool_repair(path, &how);
  recording = NULL;
  return left;
}

static void explore(const char *base, const struct record *r, unsigned kept, bool is_nested);

/* What is there after the power failure is repaired, and compared. */
static void judge(const char *image, unsigned kept, bool is_nested) {
  struct record *r = malloc(sizeof *r);
  char *after = malloc(size);
  r->count = 0;
  r->used = 0;
  store(image);
  long long left = repair(r);
  load(after);
  states++;
  nested += is_nested;
  if (left < 0 || memcmp(after, wanted, size) != 0) {
    wrong++;
    fprintf(stderr, "state %ld: %s\n", states, left < 0 ? nvm_strerror() : "other bytes");
  }
  if (!is_nested && !unordered && draw(NESTED_EVERY) == 0)
    explore(image, r, forget_kept(NONE), true);
  forget_kept(kept);
  free(after);
  free(r);
}

static void put(char *image, const struct write *w) { memcpy(image + w->offset, w->bytes, w->size); }

/* One choice of the words from `first` on, `count` of them: those whose bit is set, or (samples) at random. */
static void choose(const char *durable, const struct record *r, unsigned first, unsigned count,
                   bool (*takes)(unsigned index, uint64_t which), uint64_t which, unsigned kept, bool is_nested) {
  char *image = malloc(size);
  memcpy(image, durable, size);
  for (unsigned i = 0; i < count; i++)
    if (takes(i, which))
      put(image, &r->writes[first + i]);
  judge(image, kept, is_nested);
  free(image);
}

static bool by_bit(unsigned index, uint64_t which) { return which >> index & 1; }
static bool up_to(unsigned index, uint64_t which) { return index < which; }
static bool but_one(unsigned index, uint64_t which) { return index != which; }
static bool only_one(unsigned index, uint64_t which) { return index == which; }
static bool at_random(unsigned index, uint64_t which) {
  (void)index, (void)which;
  return draw(2);
}

/* All that a power failure before the next synchronisation can leave of these words, or a part of it. */
static void explore_part(const char *durable, const struct record *r, unsigned first, unsigned count, unsigned kept,
                         bool is_nested) {
  if (count <= ALL_MAX) {
    for (uint64_t which = 0; which < UINT64_C(1) << count; which++)
      choose(durable, r, first, count, by_bit, which, kept, is_nested);
    return;
  }
  for (uint64_t which = 0; which <= count; which++)
    choose(durable, r, first, count, up_to, which, kept, is_nested);
  for (uint64_t which = 0; which < count; which++) {
    choose(durable, r, first, count, but_one, which, kept, is_nested);
    choose(durable, r, first, count, only_one, which, kept, is_nested);
  }
  for (unsigned i = 0; i < SAMPLES; i++)
    choose(durable, r, first, count, at_random, 0, kept, is_nested);
}

static void explore(const char *base, const struct record *r, unsigned kept, bool is_nested) {
  char *durable = malloc(size);
  memcpy(durable, base, size);
  for (unsigned first = 0, end; first < r->count; first = end + 1) {
    for (end = first; end < r->count && r->writes[end].size; end++)
      ;
    explore_part(durable, r, first, end - first, kept, is_nested);
    for (unsigned i = first; i < end; i++)
      put(durable, &r->writes[i]);
  }
  free(durable);
}

static void make(void) {
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  node *first = NULL;
  for (long i = 0; i < 60; i++) {
    nvm_tx_begin(pool);
    node *made = nvm_calloc(pool, NVM_TYPE_ID(node), 1, i % 9 ? sizeof *made : 100000 / (size_t)(i + 1));
    made->next = first;
    made->other = i % 4 ? first : NULL;
    made->value = i;
    first = made;
    nvm_pool_set_root(pool, first);
    nvm_tx_commit(pool);
  }
  nvm_pool_close(pool);
  struct stat status;
  stat(path, &status);
  size = (size_t)status.st_size;
}

/* Some bytes of what describes the pool, or of its first blocks. */
static void damage(char *image) {
  static const struct {
    size_t from, length;
  } parts[] = {{0, 512}, {4096, 512}, {0x8000, 256}, {0x10000, 128}, {0x2000, 16}, {0x4000, 64}};
  uint64_t heap;
  memcpy(&heap, image + 64, sizeof heap);
  for (uint64_t left = 1 + draw(3); left; left--) {
    size_t which = draw(sizeof parts / sizeof *parts + 2);
    size_t at = which < sizeof parts / sizeof *parts ? parts[which].from + draw(parts[which].length)
                                                     : heap + draw(0x8000);
    image[at] = (char)(image[at] ^ (1 + draw(255)));
  }
}

int main(int argc, char **argv) {
  path = argv[1];
  seed = strtoull(argv[3], NULL, 10);
  unordered = argc > 4;
  make();
  char *sound = malloc(size);
  damaged = malloc(size);
  wanted = malloc(size);
  load(sound);
  static struct record first;
  for (long i = 0; i < atol(argv[2]); i++) {
    memcpy(damaged, sound, size);
    damage(damaged);
    store(damaged);
    first.count = 0;
    first.used = 0;
    long long left = repair(&first);
    unsigned kept = forget_kept(NONE);
    if (left >= 0 && first.count) {
      repairs++;
      load(wanted);
      explore(damaged, &first, kept, false);
    }
    forget_kept(1);
  }
  printf("%ld repairs, %ld states, %ld of them of a repair that finished another: ", repairs, states, nested);
  printf(wrong ? "%ld wrong\n" : "none wrong\n", wrong);
  return wrong != 0;
}
