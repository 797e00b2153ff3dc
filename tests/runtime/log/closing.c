/* closing.c: a thread closes a pool to which others have committed. Its fences say nothing about what they have
 * flushed: their logs must be durable by then. */
#include "harness.h"
#include "simulation.h"
#include "store.h"

#include <pthread.h>

enum { THREADS = 2 };

struct pair {
  _Alignas(64) uint64_t first;
  _Alignas(64) uint64_t second;
};

struct root {
  struct pair of[THREADS + 1];
};

static pthread_barrier_t at_rest, closed;

static void *stores(void *argument) {
  struct pair *pair = argument;
  NVM_POOL *pool = nvm_pool_of(pair);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(pair->first, 1);
  STORE(pair->second, 1);
  CHECK(nvm_tx_commit(pool) == 0);
  pthread_barrier_wait(&at_rest);
  pthread_barrier_wait(&closed);
  return NULL;
}

static void close_over_others(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  NVM_POOL *pool = test_open(cut->path);
  struct root *root = nvm_pool_root(pool);
  pthread_t threads[THREADS];
  CHECK(pthread_barrier_init(&at_rest, NULL, 2) == 0);
  CHECK(pthread_barrier_init(&closed, NULL, THREADS + 1) == 0);
  STORE(root->of[THREADS].first, 1);
  STORE(root->of[THREADS].second, 1);
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, stores, &root->of[i]) == 0);
    pthread_barrier_wait(&at_rest);
  }
  CHECK(nvm_pool_close(pool) == 0);
  pthread_barrier_wait(&closed);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  char *block = nvm_calloc(pool, 0, 1, sizeof(struct root) + 64);
  CHECK(block != NULL);
  block += -(uintptr_t)block % 64;
  CHECK(nvm_pool_set_root(pool, block) == 0);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

static void verify(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  for (int i = 0; i <= THREADS; i++)
    CHECK(root->of[i].first == root->of[i].second);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(power_failure_closing_undo) {
  power_fail_everywhere("undo", prepare, close_over_others, verify);
}

TEST_ONCE(power_failure_closing_shadow) {
  power_fail_everywhere("shadow", prepare, close_over_others, verify);
}

TEST(closed_twice) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK_FAILS(nvm_pool_close(pool) == 0, NVM_EARGUMENT);
  NVM_POOL *again = test_open(test_path("pool"));
  int local;
  CHECK_FAILS(nvm_pool_close((NVM_POOL *)&local) == 0, NVM_EARGUMENT);
  CHECK(nvm_pool_close(again) == 0);
}

static void *close_at_once(void *pool) {
  pthread_barrier_wait(&at_rest);
  return nvm_pool_close(pool) == 0 ? pool : NULL;
}

TEST(closed_by_one_of_two) {
  enum { ROUNDS = 50 };
  CHECK(pthread_barrier_init(&at_rest, NULL, 2) == 0);
  for (int round = 0; round < ROUNDS; round++) {
    NVM_POOL *pool = round ? test_open(test_path("pool")) : test_create(test_path("pool"), 1 << 20);
    pthread_t other;
    void *closed_it;
    CHECK(pthread_create(&other, NULL, close_at_once, pool) == 0);
    bool own = close_at_once(pool);
    CHECK(own || nvm_errno() == NVM_EARGUMENT);
    CHECK(pthread_join(other, &closed_it) == 0 && own == !closed_it);
  }
}
