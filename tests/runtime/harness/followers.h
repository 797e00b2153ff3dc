/* followers.h: a pool, and threads that follow each other's open transactions in it, step by step. */
#pragma once

#include "core/pool.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 200, FAR = 100, OTHER = 50, BLOCK = 60000, ROUNDS = 20, HANGS = 20, MOMENT = 50000 };

static struct followed {
  NVM_POOL *pool, *second;
  uint64_t *words, *words2;
  pthread_mutex_t lock, other;
  pthread_cond_t condition;
  sem_t semaphore;
  _Atomic unsigned step;
  _Atomic bool early;
} all;

static inline void wait_for(unsigned step) {
  while (all.step < step)
    sched_yield();
}

static inline void begin(void) { CHECK(nvm_tx_begin(all.pool) == 0); }
static inline void commit(void) { CHECK(nvm_tx_commit(all.pool) == 0); }

static inline uint64_t *make(NVM_POOL **pool, const char *name) {
  *pool = test_create(test_path(name), 4 << 20);
  CHECK(nvm_tx_begin(*pool) == 0);
  uint64_t *words = nvm_calloc(*pool, 0, WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(*pool, words) == 0 && nvm_tx_commit(*pool) == 0);
  return words;
}

static inline void prepare(void) {
  all.words = make(&all.pool, "pool");
  pthread_mutex_init(&all.lock, NULL);
  pthread_mutex_init(&all.other, NULL);
  pthread_cond_init(&all.condition, NULL);
  CHECK(sem_init(&all.semaphore, 0, 1) == 0);
  all.step = 0;
  alarm(HANGS);
}

static inline pthread_t start(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, argument) == 0);
  return thread;
}

static inline void join(pthread_t thread) { CHECK(pthread_join(thread, NULL) == 0); }

static inline void read_under(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  CHECK(all.words[0] <= ROUNDS);
  pthread_mutex_unlock(lock);
}

static inline void store_and_release(uint64_t value) {
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], value);
  pthread_mutex_unlock(&all.lock);
}
