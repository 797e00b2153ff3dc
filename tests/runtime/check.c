/* check.c: nvm_pool_check says of each kind of damage what and where it is; opening such a pool and
 * using it is an error, not a crash. */
#include "harness.h"
#include "heap_types.h"
#include "pool.h"
#include "store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;

/* The first run of a kind: where its word is in the file, and what it says. */
static uint64_t find_run(unsigned kind, uint64_t *word) {
  struct nvm_pool *pool = nvmi_pool_attach(path, false);
  CHECK(pool != NULL);
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  uint64_t at = NVM_CHUNKS_OFFSET, found = 0;
  for (uint32_t chunk = 0, count; chunk < chunks && !found; chunk += count, at += 8 * count) {
    CHECK(pread(pool->fd, word, sizeof *word, (off_t)at) == sizeof *word);
    count = *word ? (uint32_t)(*word >> 32) : 1;
    found = (*word & 0xff) == kind ? at : 0;
  }
  nvmi_pool_detach(pool);
  CHECK(found);
  return found;
}

/* The pool as it was before it was damaged. */
static void restore(const char *sound) {
  static char bytes[8 << 20];
  int in = open(sound, O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t size = read(in, bytes, sizeof bytes);
  CHECK(size > 0 && size < (ssize_t)sizeof bytes && write(out, bytes, (size_t)size) == size);
  close(in);
  close(out);
}

static void set_word(uint64_t at, uint64_t value) {
  int fd = open(path, O_RDWR);
  CHECK(pwrite(fd, &value, sizeof value, (off_t)at) == sizeof value);
  close(fd);
}

static uint64_t word_at(uint64_t at) {
  uint64_t word;
  int fd = open(path, O_RDONLY);
  CHECK(pread(fd, &word, sizeof word, (off_t)at) == sizeof word);
  close(fd);
  return word;
}

static void listen(void *heard, const char *line) {
  if (!*(char *)heard)
    snprintf(heard, 256, "%s", line);
}

static void use(void *unused) {
  (void)unused;
  NVM_POOL *pool = nvm_pool_open(path);
  for (size_t size = 16; pool && size < 200000; size *= 3)
    nvm_alloc(pool, 0, size);
  _exit(0);
}

static void damaged(uint64_t at, uint64_t value, const char *expected) {
  char heard[256] = "";
  restore(test_path("sound"));
  set_word(at, value);
  if (nvm_pool_check(path, listen, heard) <= 0 || !strstr(heard, expected))
    test_fail(heard, 0, expected);
  CHECK(test_child(NULL, use, NULL) == 0);
  restore(test_path("sound"));
}

static uint64_t root_of(const char *name) {
  NVM_POOL *pool = test_open(name);
  uint64_t root = (uint64_t)(uintptr_t)nvm_pool_root(pool);
  CHECK(nvm_pool_close(pool) == 0);
  return root;
}

TEST_ONCE(check_names_every_damage) {
  path = test_path("sound");
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void *small = nvm_alloc(pool, NVM_TYPE_ID(struct kind), 100), *large = nvm_alloc(pool, 0, 200000);
  void *freed = nvm_alloc(pool, 0, 100000), *behind = nvm_alloc(pool, 0, 70000);
  CHECK(small && large && freed && behind && nvm_pool_set_root(pool, small) == 0);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  CHECK(nvm_free(freed) == 0 && nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  test_check_pool(path);
  uint64_t root = root_of(path);
  path = test_path("pool");
  restore(test_path("sound"));
  uint64_t span, block, log, free_run, virgin, at;
  at = find_run(NVM_CHUNK_SMALL, &span);
  damaged(at, span + 0x3000, "as long as its size class");
  damaged(at, span | 0xff00, "no such size class");
  damaged(at, span | 0x20000, "no such size class");
  damaged(at, span | 0x80, "no such kind");
  damaged(at, span + ((uint64_t)1 << 60), "outside the heap");
  damaged(at, span & 0xffffffff, "outside the heap");
  at = find_run(NVM_CHUNK_LARGE, &block);
  damaged(at, block | 0x100, "large block has a size class");
  damaged(at, block | 0xfff0000, "type that is not in the table");
  at = find_run(NVM_CHUNK_FREE, &free_run);
  damaged(at, free_run | 0x10000, "without blocks");
  at = find_run(NVM_CHUNK_VIRGIN, &virgin);
  damaged(at, NVM_CHUNK_ENTRY(0, 0, 1, 1), "never used");
  at = find_run(NVM_CHUNK_LOG, &log);
  damaged(at, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, log >> 32), "not a run of kind LOG");
  damaged(NVM_SLOTS_OFFSET + 8, 0x123456, "a segment is damaged");
  uint64_t segment = word_at(NVM_SLOTS_OFFSET);
  damaged(segment + offsetof(struct nvm_segment, size), 2 * NVM_CHUNK_SIZE, "a segment is damaged");
  damaged(NVM_SLOTS_OFFSET + 16 * 40, 0x123456, "behind one that is not");
  damaged(NVM_ROOT_OFFSET, 4096, "does not lie in the heap");
  damaged(NVM_ROOT_OFFSET, root + 4096, "lies in no block");
  damaged(NVM_TYPES_OFFSET + sizeof(struct nvm_type_entry), 0, "no type 1");
  damaged(NVM_HEADER_COPY_SIZE + 24, 1, "header copies differ");
}
