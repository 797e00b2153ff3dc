// Several threads: the data is not compared, and the report says so; recovery, heap and checker judge.
// RUN: %cc -O1 -pthread %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash -- %t %pool | FileCheck %s
// CHECK: not covered: several threads write
// CHECK: no finding in
#include "nvmove/nvmove.h"

#include <pthread.h>

static NVM_POOL *pool;
static struct root {
  long words[2][64];
  void *block[2];
} *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *number) {
  long t = (long)number;
  for (int i = 0; i < 8; i++) {
    pthread_mutex_lock(&lock);
    nvm_tx_begin(pool);
    root->words[t][i]++;
    root->words[0][63]++;
    nvm_free(root->block[t]);
    root->block[t] = nvm_alloc(pool, 0, (size_t)(100 + 50 * i));
    nvm_tx_commit(pool);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return nvm_pool_close(pool);
}
