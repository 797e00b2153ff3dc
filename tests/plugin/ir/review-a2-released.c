// A lock is released between two stores to the same bytes in one transaction: the second store is in the pool after
// the commit. What was noted before the release is not noted behind it. One thread is enough.
// RUN: rm -f %t.pool && %cc -O0 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && %cc -O1 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && %cc -O2 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && %cc -O3 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

enum { LONG = 100 };

struct item {
  long x;
  long array[LONG];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static mtx_t c11;

static void use_mutex(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
static void use_rwlock(void) {
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void use_spin(void) {
  pthread_spin_lock(&spin);
  pthread_spin_unlock(&spin);
}
static void use_semaphore(void) {
  sem_wait(&semaphore);
  sem_post(&semaphore);
}
static void use_c11(void) {
  mtx_lock(&c11);
  mtx_unlock(&c11);
}
static void use_condition(void) {
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  struct timespec past = {0, 0};
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&condition, &mutex, &past);
  pthread_mutex_unlock(&mutex);
}

#define WORK(name)                                                                                                     \
  __attribute__((noinline)) static void work_##name(struct item *p, long value) {                                     \
    p->x = 1;                                                                                                          \
    memset(p->array, 1, sizeof p->array);                                                                              \
    name();                                                                                                            \
    p->x = value;                                                                                                      \
    memset(p->array, (int)value, sizeof p->array);                                                                     \
    for (long n = 0; n < 3; n++) {                                                                                     \
      p->x += n;                                                                                                       \
      name();                                                                                                          \
    }                                                                                                                  \
  }
WORK(use_mutex)
WORK(use_rwlock)
WORK(use_spin)
WORK(use_semaphore)
WORK(use_c11)
WORK(use_condition)

static void (*const works[])(struct item *, long) = {work_use_mutex,     work_use_rwlock, work_use_spin,
                                                     work_use_semaphore, work_use_c11,    work_use_condition};
enum { WORKS = sizeof works / sizeof *works };

int main(int argc, char **argv) {
  (void)argc;
  pthread_spin_init(&spin, 0);
  sem_init(&semaphore, 0, 1);
  mtx_init(&c11, mtx_plain);
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  struct item *items = nvm_calloc(pool, 0, WORKS, sizeof *items);
  nvm_pool_set_root(pool, items);
  nvm_tx_commit(pool);
  for (long n = 0; n < WORKS; n++) {
    nvm_tx_begin(pool);
    works[n](items + n, 5 + n);
    if (nvm_tx_commit(pool))
      return 2;
  }
  nvm_pool_close(pool);
  pool = nvm_pool_open(argv[1]);
  items = nvm_pool_root(pool);
  int wrong = 0;
  for (long n = 0; n < WORKS; n++)
    if (items[n].x != 8 + n || items[n].array[LONG - 1] != (5 + n) * 0x0101010101010101) {
      printf("work %ld: %ld, %lx\n", n, items[n].x, items[n].array[LONG - 1]);
      wrong = 1;
    }
  return nvm_pool_close(pool) || wrong;
}
