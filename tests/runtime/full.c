/* full.c: a pool that has grown as far as it may: the allocation fails, the transaction goes on,
 * and what comes free can be used again.
 */
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include <string.h>

enum { SMALL = 10000, SPARE = 6 << 20 };

struct node {
  struct node *next;
  uint64_t number;
};

struct root {
  struct node *first;
  void *large;
};

static NVM_POOL *pool;
static struct root *root;

/* All but so much of what the pool may ever have is one block. */
static void make_nearly_full(const char *path) {
  pool = test_create(path, 1 << 20);
  uint64_t most = pool->header.range - pool->header.heap_offset;
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0);
  CHECK_FAILS(nvm_alloc(pool, 0, most), NVM_ENOMEMORY); /* beside what there is */
  CHECK_FAILS(nvm_alloc(pool, 0, most + 1), NVM_ETOOLARGE);
  STORE(root->large, nvm_alloc(pool, 0, most - SPARE));
  CHECK(root->large && nvm_tx_commit(pool) == 0);
}

static uint64_t add_until_full(void) {
  uint64_t count = 0;
  for (struct node *node; (node = nvm_alloc(pool, 0, SMALL)); count++) {
    STORE(node->next, root->first);
    STORE(node->number, count);
    STORE(root->first, node);
  }
  CHECK(nvm_errno() == NVM_ENOMEMORY);
  CHECK(strstr(nvm_strerror(), "the pool is full and may not grow beyond 1024 MiB; "));
  CHECK_FAILS(nvm_alloc(pool, 0, SPARE), NVM_ENOMEMORY);
  CHECK_FAILS(nvm_calloc(pool, 0, 1, SPARE), NVM_ENOMEMORY);
  CHECK_FAILS(nvm_realloc(pool, root->first, SPARE), NVM_ENOMEMORY);
  return count;
}

/* A block that could not be made larger is as it was. */
static void check_list(uint64_t count) {
  CHECK(test_blocks(pool) == 2 + count);
  for (const struct node *node = root->first; node; node = node->next)
    CHECK(node->number == --count);
  CHECK(count == 0);
}

static void free_all(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  for (struct node *node = root->first, *next; node; node = next) {
    next = node->next;
    CHECK(nvm_free(node) == 0);
  }
  STORE(root->first, NULL);
  CHECK(nvm_tx_commit(pool) == 0);
}

TEST(full_pool) {
  const char *path = test_path("pool");
  make_nearly_full(path);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t aborted = add_until_full();
  CHECK(aborted >= SPARE / SMALL / 2 && nvm_tx_abort(pool) == 0);
  check_list(0);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t count = add_until_full();
  CHECK(count + 10 >= aborted && nvm_tx_commit(pool) == 0);
  check_list(count);
  CHECK(nvm_pool_verify(pool, test_print_fault, NULL) == 0 && nvm_pool_close(pool) == 0);
  test_check_pool(path);
  pool = test_open(path);
  root = nvm_pool_root(pool);
  check_list(count);
  free_all();
  CHECK(nvm_tx_begin(pool) == 0 && add_until_full() + 10 >= count && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}
