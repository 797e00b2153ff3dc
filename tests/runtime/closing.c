/* closing.c: the thread that closes a pool commits what the others have outside transactions. Its
 * fences say nothing about what they have flushed: their logs must be durable by then. */
#include "harness.h"
#include "simulation.h"
#include "store.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { THREADS = 2, SEEDS = 6 };

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
  STORE(pair->first, 1);
  STORE(pair->second, 1);
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

static void power_fails(const char *method) {
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", "power", 1);
  const char *start = test_path("start");
  CHECK(test_child(NULL, prepare, (void *)(uintptr_t)start) == 0);
  struct power_cut cut = {.path = test_path("pool"), .image = test_path("image")};
  bool failed = true;
  for (cut.at = 1; failed; cut.at++)
    for (uint64_t seed = 1; seed <= SEEDS && failed; seed++) {
      power_copy(start, cut.path);
      cut.seed = seed * 7919 + cut.at + test_seed();
      int status = test_child(NULL, close_over_others, &cut);
      CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
      failed = WEXITSTATUS(status) == POWER_CUT;
      if (!failed)
        break;
      NVM_POOL *pool = test_open(cut.image);
      const struct root *root = nvm_pool_root(pool);
      for (int i = 0; i <= THREADS; i++)
        CHECK(root->of[i].first == root->of[i].second);
      CHECK(nvm_pool_close(pool) == 0);
    }
  CHECK(cut.at > 20);
}

TEST_ONCE(power_failure_closing_undo) { power_fails("undo"); }

TEST_ONCE(power_failure_closing_shadow) { power_fails("shadow"); }
