// The lock goes before the transaction has ended.
// RUN: %seeded %s
#include "seeded.h"

#include <pthread.h>

static struct shared {
  long count, sum;
} *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *value) {
  for (long i = 0; i < 3; i++) {
    pthread_mutex_lock(&lock);
    nvm_tx_begin(pool);
    shared->count++;
    shared->sum += (long)value;
#ifdef BUG
    pthread_mutex_unlock(&lock); // FOUND: lock released inside an open transaction
    nvm_tx_commit(pool);
#else
    nvm_tx_commit(pool);
    pthread_mutex_unlock(&lock);
#endif
  }
  return NULL;
}

int main(int argc, char **argv) {
  shared = CREATE(argv, struct shared);
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return nvm_pool_close(pool);
}
