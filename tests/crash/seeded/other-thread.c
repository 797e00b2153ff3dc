// A thread stores without a transaction of its own; its creator's does not help.
// RUN: %seeded %s
#include "seeded.h"

#include <pthread.h>

static struct shared {
  long here, there;
} *shared;

static void *work(void *unused) {
#ifndef BUG
  nvm_tx_begin(pool);
#endif
  shared->there = 1; // FOUND: write outside a transaction
#ifndef BUG
  nvm_tx_commit(pool);
#endif
  return NULL;
}

int main(int argc, char **argv) {
  shared = CREATE(argv, struct shared);
  pthread_t thread;
  nvm_tx_begin(pool);
  shared->here = 1;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
