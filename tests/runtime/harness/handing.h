/* handing.h: threads that take turns by a number of steps, and store to a pool under locks. */
#pragma once

#include "harness.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

enum {
  WORDS = 1024,
  GAP = 8,
  RING = 80,
  TURNS = 2000,
  YIELDS = 100,
  AGAIN_US = 50,
  LONGER_US = 40000 /* than an abort waits */
};

extern struct handing {
  NVM_POOL *pool;
  uint64_t *words;
  pthread_mutex_t lock[RING];
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  sem_t semaphore;
  _Atomic unsigned step;
} all;

static inline void wait_for(unsigned step) {
  for (unsigned tries = 0; all.step < step; tries++)
    if (tries < YIELDS)
      sched_yield();
    else
      usleep(AGAIN_US); /* whom it waits for may itself wait long */
}

static inline void prepare(void) {
  all.pool = test_create(test_path("pool"), 4 << 20);
  CHECK(nvm_tx_begin(all.pool) == 0);
  all.words = nvm_calloc(all.pool, 0, WORDS, sizeof *all.words);
  CHECK(all.words && nvm_pool_set_root(all.pool, all.words) == 0 && nvm_tx_commit(all.pool) == 0);
  for (unsigned i = 0; i < RING; i++)
    pthread_mutex_init(&all.lock[i], NULL);
  pthread_cond_init(&all.condition, NULL);
  sem_init(&all.semaphore, 0, 0);
  all.step = 0;
}

static inline void begin(void) { CHECK(nvm_tx_begin(all.pool) == 0); }
static inline void commit(void) { CHECK(nvm_tx_commit(all.pool) == 0); }

static inline void store(unsigned lock, unsigned word, uint64_t value) {
  pthread_mutex_lock(&all.lock[lock]);
  STORE(all.words[word], value);
  pthread_mutex_unlock(&all.lock[lock]);
}

static inline pthread_t start(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, argument) == 0);
  return thread;
}

static inline void reopen(void) {
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
}

static inline void finish(void) {
  CHECK(nvm_pool_close(all.pool) == 0);
  unlink(test_path("pool"));
}
