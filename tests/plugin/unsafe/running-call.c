// A function of the C library calls the program back, and that releases a lock, or commits: what the function writes
// behind that is in the pool after the next commit, and an abort takes it back.
// RUN: rm -f %t.pool && %cc -O0 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: rm -f %t.pool && %cc -O2 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && rm %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 100 };

struct numbers {
  long sorted[NUMBERS];
  size_t count;
  long found[NUMBERS];
};

static NVM_POOL *pool;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int commits;

static int compare(const void *a, const void *b) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  if (commits && --commits == 0) {
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
  }
  long x = *(const long *)a, y = *(const long *)b;
  return x < y ? -1 : x > y;
}

static void mix(struct numbers *n) {
  for (long i = 0; i < NUMBERS; i++)
    n->sorted[i] = i * 37 % NUMBERS;
  n->count = 0;
}

static int is_sorted(const struct numbers *n) {
  for (long i = 0; i < NUMBERS; i++)
    if (n->sorted[i] != i)
      return 0;
  return n->count == 2 && n->found[0] == 7 && n->found[1] == 8;
}

__attribute__((noinline)) static void sort(struct numbers *n) {
  long keys[2] = {7, 8};
  qsort(n->sorted, NUMBERS, sizeof *n->sorted, compare);
  lsearch(&keys[0], n->found, &n->count, sizeof *keys, compare);
  lsearch(&keys[1], n->found, &n->count, sizeof *keys, compare);
}

int main(int argc, char **argv) {
  (void)argc;
  pool = nvm_pool_create(argv[1], 1 << 20);
  struct numbers *n = nvm_calloc(pool, 0, 1, sizeof *n), mixed;
  nvm_pool_set_root(pool, n);
  mix(n);
  mixed = *n;
  nvm_tx_begin(pool);
  sort(n);
  nvm_tx_abort(pool);
  if (memcmp(n, &mixed, sizeof mixed) != 0)
    return 1;
  for (commits = 0; commits < 300; commits += 60) {
    int before = commits;
    nvm_tx_begin(pool);
    mix(n);
    sort(n);
    if (nvm_tx_commit(pool) != 0 || nvm_pool_close(pool) != 0)
      return 2;
    pool = nvm_pool_open(argv[1]);
    n = nvm_pool_root(pool);
    if (!is_sorted(n))
      return 3;
    commits = before;
  }
  return nvm_pool_close(pool) != 0;
}
