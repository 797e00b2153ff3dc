/* growth.c: a pool grows over words that are not zero, because the file is damaged or was cut short
 * by a crash of something else, and the power fails meanwhile: they never mean anything. */
#include "harness.h"
#include "heap/heap_types.h"
#include "simulation.h"
#include "store.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct root {
  uint64_t blocks;
  char *large;
};

enum { LARGE = 3 << 20, GARBAGE = 64 };

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  uint64_t chunks = pool->header.heap_size >> NVM_CHUNK_SHIFT, garbage[GARBAGE];
  CHECK(nvm_pool_close(pool) == 0);
  memset(garbage, 0x41, sizeof garbage);
  int fd = open(path, O_RDWR);
  CHECK(pwrite(fd, garbage, sizeof garbage, (off_t)(NVM_CHUNKS_OFFSET + 8 * chunks)) ==
        (ssize_t)sizeof garbage);
  close(fd);
}

static void grow(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  power_hold(true);
  NVM_POOL *pool = test_open(cut->path);
  struct root *root = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  power_hold(false);
  char *large = nvm_alloc(pool, 0, LARGE);
  CHECK(large != NULL);
  STORE(root->large, large);
  STORE(root->blocks, 1);
  CHECK(nvm_tx_commit(pool) == 0);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  CHECK(test_blocks(pool) == 1 + root->blocks);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST_ONCE(power_failure_growth_over_garbage) {
  power_fail_everywhere("undo", prepare, grow, verify);
}
