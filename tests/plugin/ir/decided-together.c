// One transaction makes a number of a record an address, another says that the number is a pointer. Both
// wait for a third, each for the others, and the three commits become one: it is refused, whoever writes it.
// RUN: %cc -O1 %s -o %t -pthread
// RUN: env NVMOVE_METHOD=undo %t %t.pool | FileCheck %s
// RUN: env NVMOVE_METHOD=shadow %t %t.pool | FileCheck %s
// CHECK: 24 rounds, some joined, 0 unsafe
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 24, NUMBER = 0, POINTER = 1 };

struct target {
  long value;
};
struct record {
  int kind;
  union {
    NVM_WHEN(kind, POINTER) struct target *to;
    uintptr_t number;
  };
  long turns[32];
};

static NVM_POOL *pool;
static struct record *record;
static struct target outside;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned round_number, orders[6][THREADS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

// One thread after the other takes the lock and stores: twice each, so that all depend on all.
static void *store(void *number) {
  unsigned own = (unsigned)(uintptr_t)number;
  nvm_tx_begin(pool);
  for (unsigned turn = 0; turn < 2 * THREADS; turn++) {
    pthread_barrier_wait(&barrier);
    if (turn % THREADS != own)
      continue;
    pthread_mutex_lock(&lock);
    record->turns[16 * (turn % 2)]++;
    if (turn == 3)
      record->number = (uintptr_t)&outside;
    else if (turn == 4)
      record->kind = POINTER;
    pthread_mutex_unlock(&lock);
  }
  pthread_barrier_wait(&barrier);
  usleep(2000 * orders[round_number % 6][own]);
  nvm_tx_commit(pool);
  return NULL;
}

int main(int count, char **values) {
  unsigned unsafe = 0;
  unlink(values[1]);
  pool = nvm_pool_create(values[1], 1 << 20);
  nvm_tx_begin(pool);
  record = nvm_calloc(pool, NVM_TYPE_ID(struct record), 1, sizeof *record);
  nvm_pool_set_root(pool, record);
  nvm_tx_commit(pool);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (round_number = 0; round_number < ROUNDS; round_number++) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
      pthread_create(&threads[i], NULL, store, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
    unsafe += record->kind == POINTER && record->to == &outside;
    nvm_tx_begin(pool);
    record->kind = NUMBER;
    record->number = 0;
    nvm_tx_commit(pool);
  }
  struct nvm_stats stats;
  nvm_pool_stats(pool, &stats);
  printf("%d rounds, %s joined, %u unsafe\n", ROUNDS, stats.joined_commits ? "some" : "none", unsafe);
  return nvm_pool_close(pool) != 0;
}
