// The counter and the flags of a string share a word, and each has a lock of its own.
// RUN: %seeded %s
#include "seeded.h"

#include <pthread.h>

static struct string {
#ifdef BUG
  unsigned references : 6, is_shared : 1, is_old : 1;
#else
  unsigned references, is_shared, is_old;
#endif
  char text[24];
} *string;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER, marking = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t counted, marked;

static void *count(void *unused) {
  pthread_mutex_lock(&counting);
  nvm_tx_begin(pool);
  string->references++;
  pthread_barrier_wait(&counted);
  pthread_barrier_wait(&marked);
  nvm_tx_commit(pool);
  pthread_mutex_unlock(&counting);
  return unused;
}

static void *mark(void *unused) {
  pthread_mutex_lock(&marking);
  nvm_tx_begin(pool);
  pthread_barrier_wait(&counted);
  string->is_shared = 1; // FOUND: unordered transactions
  pthread_barrier_wait(&marked);
  nvm_tx_commit(pool);
  pthread_mutex_unlock(&marking);
  return unused;
}

// ALSO: torn transaction
int main(int argc, char **argv) {
  string = CREATE(argv, struct string);
  pthread_barrier_init(&counted, NULL, 2);
  pthread_barrier_init(&marked, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, count, NULL);
  pthread_create(&threads[1], NULL, mark, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return nvm_pool_close(pool);
}
