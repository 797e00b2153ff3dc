/* repair_unused.c: chunks that were never used, as their word says, and that are not zero: found, and
 * given out as zero no more. */
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 100000 };

static void *filled(NVM_POOL *pool) {
  char *block = nvm_alloc(pool, 0, LARGE), bytes[1024];
  memset(bytes, 'x', sizeof bytes);
  CHECK(block);
  for (size_t at = 0; at + sizeof bytes <= LARGE; at += sizeof bytes)
    store_bytes(block + at, bytes, sizeof bytes);
  return block;
}

/* A free run that is not zero, behind spans, or behind a large block that stays: its word is lost.
 * Gives the place of the word in the file. */
static off_t lose(const char *path, bool behind_large, uint64_t *right) {
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void **root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(nvm_pool_set_root(pool, root) == 0);
  if (behind_large)
    STORE(*root, filled(pool));
  char *freed = filled(pool);
  uint64_t offset = (uint64_t)(freed - (char *)pool->work) - pool->header.heap_offset;
  CHECK(nvm_tx_commit(pool) == 0 && nvm_free(freed) == 0 && nvm_pool_close(pool) == 0);
  off_t at = (off_t)(NVM_CHUNKS_OFFSET + 8 * (offset >> NVM_CHUNK_SHIFT));
  uint64_t none = 0;
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pread(fd, right, 8, at) == 8 && (*right & 0xff) == NVM_CHUNK_FREE);
  CHECK(pwrite(fd, &none, 8, at) == 8);
  close(fd);
  return at;
}

static uint64_t word_at(const char *path, off_t at) {
  uint64_t word;
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &word, 8, at) == 8);
  close(fd);
  return word;
}

static void listen(void *heard, const char *line) { snprintf(heard, 512, "%s", line); }

TEST_ONCE(repair_of_a_free_run_that_was_never_used) {
  const char *path = test_path("pool");
  char heard[512] = "";
  struct nvm_repair how = {0};
  uint64_t right;
  off_t at = lose(path, false, &right);
  CHECK(nvm_pool_check(path, listen, heard) == 1 && strstr(heard, "is not zero"));
  CHECK(nvm_pool_repair(path, &how) == 0 && word_at(path, at) == right);
  CHECK(nvm_pool_check(path, listen, heard) == 0);
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_tx_begin(pool) == 0);
  const char *block = nvm_calloc(pool, 0, 1, LARGE);
  CHECK(block && !*block && memcmp(block, block + 1, LARGE - 1) == 0);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

/* It may be the rest of that block. */
TEST_ONCE(repair_of_what_may_end_a_large_block) {
  const char *path = test_path("pool");
  struct nvm_repair how = {0};
  uint64_t right;
  off_t at = lose(path, true, &right);
  CHECK(nvm_pool_repair(path, &how) == 1 && !*how.copy && !word_at(path, at));
}
