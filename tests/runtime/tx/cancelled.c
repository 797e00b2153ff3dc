/* cancelled.c: threads that are cancelled (pthread_cancel, deferred) at any moment, also while they are
 * inside the runtime: the others go on, nothing stays locked. */
#include "harness.h"
#include "store.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 60, LARGE = 300000, PAUSE_MAX_US = 2500 };

static NVM_POOL *pool;
static uint64_t *word;

/* The pool grows, and its file is given blocks. */
static void *allocate(void *unused) {
  for (;;) {
    pthread_testcancel();
    CHECK(nvm_tx_begin(pool) == 0);
    for (unsigned i = 0; i < 4; i++)
      CHECK(nvm_alloc(pool, 0, LARGE));
    CHECK(nvm_tx_abort(pool) == 0);
  }
  return unused;
}

/* A pool comes, goes, and comes again. None is left open: there is no cancellation in between. */
static void *open_and_close(void *unused) {
  const char *path = test_path("other");
  for (;;) {
    pthread_testcancel();
    unlink(path);
    NVM_POOL *other = nvm_pool_create(path, 1 << 20);
    CHECK(other && nvm_pool_close(other) == 0);
    other = nvm_pool_open(path);
    CHECK(other && nvm_pool_close(other) == 0);
  }
  return unused;
}

TEST_ONCE(cancelled_threads_hold_no_lock) {
  uint64_t seed = 1 + test_seed();
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  word = nvm_calloc(pool, 0, 1, sizeof *word);
  CHECK(nvm_pool_set_root(pool, word) == 0 && nvm_tx_commit(pool) == 0);
  for (unsigned i = 0; i < ROUNDS; i++) {
    pthread_t threads[2];
    CHECK(pthread_create(&threads[0], NULL, allocate, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, open_and_close, NULL) == 0);
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    usleep((useconds_t)(seed >> 33) % PAUSE_MAX_US);
    for (unsigned n = 0; n < 2; n++)
      CHECK(pthread_cancel(threads[n]) == 0 && pthread_join(threads[n], NULL) == 0);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(*word, *word + 1);
    CHECK(nvm_alloc(pool, 0, LARGE) && nvm_tx_commit(pool) == 0);
  }
  CHECK(*word == ROUNDS && nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
