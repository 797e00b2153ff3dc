/* split.c: the power fails while a free run of chunks is split in two.
 *
 * The word of the rest has to be there before the word of what is taken gets shorter: behind that
 * may stand what was said of a run long ago. And what is taken has to be called used before it is:
 * chunks that were never used are taken for zero.
 */
#include "harness.h"
#include "heap/heap_types.h"
#include "simulation.h"
#include "store.h"

#include <string.h>

/* In chunks. Two neighbours are freed and become one run, which is cut elsewhere: so in the middle
 * of its first part there is the word of the second neighbour, which says more than is free today.
 * Words of one line arrive in their order; these lie in several. */
enum { FIRST = 10, SECOND = 30, TAKEN = 16, LEFT = FIRST + SECOND - TAKEN, LONG = 64 };

struct root {
  uint64_t blocks;
  char *left, *taken;
};

static char *take(NVM_POOL *pool, size_t chunks) {
  char *block = nvm_alloc(pool, 0, chunks << NVM_CHUNK_SHIFT);
  CHECK(block != NULL);
  return block;
}

static struct root *open_root(const char *path, NVM_POOL **pool) {
  *pool = test_open(path);
  CHECK(nvm_tx_begin(*pool) == 0);
  return nvm_pool_root(*pool);
}

static void end(NVM_POOL *pool) { CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0); }

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0);
  char *first = take(pool, FIRST), *second = take(pool, SECOND);
  CHECK(second == first + (FIRST << NVM_CHUNK_SHIFT));
  STORE(root->taken, take(pool, 5)); /* neither has a free neighbour behind it */
  end(pool);
  root = open_root(path, &pool);
  CHECK(nvm_free(first) == 0 && nvm_free(second) == 0);
  end(pool);
  root = open_root(path, &pool);
  char *taken = take(pool, TAKEN);
  CHECK(taken == first);
  STORE(root->left, take(pool, LEFT));
  CHECK(root->left == first + (TAKEN << NVM_CHUNK_SHIFT) && nvm_free(taken) == 0);
  STORE(root->blocks, 2);
  end(pool);
}

static void split(const struct power_cut *cut, size_t chunks) {
  power_arm(cut);
  power_hold(true);
  NVM_POOL *pool;
  struct root *root = open_root(cut->path, &pool);
  power_hold(false);
  STORE(root->taken, take(pool, chunks));
  STORE(root->blocks, root->blocks + 1);
  note_store(root->taken, 64);
  memset(root->taken, 0xee, 64);
  CHECK(nvm_tx_commit(pool) == 0);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static void split_merged(void *cut) { split(cut, FIRST); }
static void split_virgin(void *cut) { split(cut, SECOND); }

static void verify(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  CHECK(nvm_usable_size(root->left) == LEFT << NVM_CHUNK_SHIFT);
  CHECK(test_blocks(pool) == 1 + root->blocks);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST_ONCE(power_failure_split_of_merged) {
  power_fail_everywhere("undo", prepare, split_merged, verify);
  power_fail_everywhere("shadow", prepare, split_merged, verify);
}

TEST_ONCE(power_failure_split_of_virgin) {
  power_fail_everywhere("undo", prepare, split_virgin, verify);
  power_fail_everywhere("shadow", prepare, split_virgin, verify);
}

/* The heap's free end is one run, which had another use, and is given up from its middle on: what is
 * left of it may not look like chunks that were never used. */
static void prepare_long(void *path) {
  prepare(path);
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_resize(pool, 8 << 20) == 0 && nvm_tx_begin(pool) == 0);
  char *before = take(pool, LONG);
  uint64_t at = nvmi_offset(pool, before) + ((uint64_t)LONG << NVM_CHUNK_SHIFT);
  uint64_t heap_end = pool->header.heap_offset + pool->header.heap_size;
  char *last = take(pool, (heap_end - at) >> NVM_CHUNK_SHIFT);
  CHECK(nvmi_offset(pool, last) == at);
  __nvm_note(last, heap_end - at);
  memset(last, 0xee, heap_end - at);
  end(pool);
  CHECK((pool = test_open(path)) && nvm_tx_begin(pool) == 0 && nvm_free(last) == 0 &&
        nvm_free(before) == 0);
  end(pool);
}

static void give_up_end(void *cut) {
  power_arm(cut);
  power_hold(true);
  NVM_POOL *pool = test_open(((const struct power_cut *)cut)->path);
  power_hold(false);
  CHECK(nvm_pool_resize(pool, 5 << 20) == 0);
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify_ended(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  CHECK(test_blocks(pool) == 1 + root->blocks && nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST_ONCE(power_failure_split_where_a_heap_ends) {
  power_fail_everywhere("undo", prepare_long, give_up_end, verify_ended);
}
