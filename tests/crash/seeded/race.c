// Two open transactions write the same bytes, and no lock says which is first.
// RUN: %seeded %s
#include "seeded.h"

#include <pthread.h>

static struct shared {
  long value, own[2];
} *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *work(void *number) {
  long t = (long)number;
#ifndef BUG
  pthread_mutex_lock(&lock);
#endif
  nvm_tx_begin(pool);
  shared->own[t] = t;
#ifdef BUG
  if (t)
    pthread_barrier_wait(&both); // the other has stored
#endif
  shared->value += t + 1; // FOUND: unordered transactions
#ifdef BUG
  if (!t)
    pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
#endif
  nvm_tx_commit(pool);
#ifndef BUG
  pthread_mutex_unlock(&lock);
#endif
  return NULL;
}

// ALSO: torn transaction
int main(int argc, char **argv) {
  shared = CREATE(argv, struct shared);
  pthread_barrier_init(&both, NULL, 2);
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return nvm_pool_close(pool);
}
