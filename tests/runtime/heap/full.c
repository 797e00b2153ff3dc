/* full.c: a pool that has grown as far as it may: the allocation fails, the transaction goes on,
 * and what comes free can be used again.
 */
#include "harness.h"
#include "heap/heap_types.h"
#include "nvmove/repair.h"
#include "store.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

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

/* As cp(1) copies: without pages of zeros. */
static void copy_sparsely(const char *from, const char *to) {
  char page[4096], zero[sizeof page] = {0};
  int in = open(from, O_RDONLY), out = open(to, O_RDWR | O_CREAT, 0600);
  off_t at = 0;
  CHECK(in >= 0 && out >= 0);
  for (; read(in, page, sizeof page) == sizeof page; at += sizeof page)
    CHECK(!memcmp(page, zero, sizeof page) || pwrite(out, page, sizeof page, at) == sizeof page);
  CHECK(ftruncate(out, at) == 0 && close(in) == 0 && close(out) == 0);
}

/* Blocks of holes are missing: the opening says so, as a store would be SIGBUS. */
TEST(sparse_copy_on_a_full_disk) {
  char page[4096] = {1}, copy[PATH_MAX], file[PATH_MAX];
  struct nvm_repair how = {0};
  test_small_disk(1200);
  snprintf(copy, sizeof copy, "%s", test_path("disk/pool"));
  snprintf(file, sizeof file, "%s", test_path("disk/other"));
  CHECK(nvm_pool_close(test_create(test_path("pool"), 1 << 20)) == 0);
  copy_sparsely(test_path("pool"), copy);
  int other = open(file, O_RDWR | O_CREAT, 0600);
  while (write(other, page, sizeof page) == sizeof page)
    ;
  CHECK(close(other) == 0);
  CHECK_FAILS(nvm_pool_open(copy), NVM_ENOSPACE);
  CHECK(strstr(nvm_strerror(), "holes of the file"));
  CHECK(nvm_pool_repair(copy, &how) == -1 && nvm_errno() == NVM_ENOSPACE);
  CHECK(unlink(file) == 0);
  pool = test_open(copy);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_calloc(pool, 0, 1, 500000) && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}
