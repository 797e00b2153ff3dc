// Several threads: each transaction is there as a whole or not at all, whatever the others do.
// RUN: %cc -O1 -pthread %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 16 --samples 4|} -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 16 --samples 4|} -- %t %pool | FileCheck %s
// RUN: rm -f %pool && %crash --model=process %sizes{--epoch-states 16 --samples 4|} -- %t %pool | FileCheck %s
// CHECK: {{[1-9][0-9]*}} commits
// CHECK-NOT: not covered
// CHECK: no finding

// A lock that is released inside a transaction orders the commits; a transaction that cannot wait joins the other.
// RUN: %cc -O1 -pthread -DEARLY %s -o %t.early
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 16 --samples 4|} -- %t.early %pool | FileCheck --check-prefix=EARLY %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 16 --samples 4|} -- %t.early %pool | FileCheck --check-prefix=EARLY %s
// EARLY: threads.c:{{.*}} warning: lock released inside an open transaction
// EARLY-NOT: error
// EARLY-NOT: not covered
// EARLY: no error
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 3, TURNS = 6 };

static NVM_POOL *pool;
static struct root {
  long words[THREADS][64], common, texts;
  char text[100];
  void *block[THREADS];
} *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, others = PTHREAD_MUTEX_INITIALIZER;

static void touch_common(void) {
  pthread_mutex_lock(&lock);
  root->common++;
  strcpy(root->text, root->common % 2 ? "odd" : "even, and longer");
#ifndef EARLY
  root->texts++;
#endif
}

static void *work(void *number) {
  long t = (long)number;
  for (int i = 0; i < TURNS; i++) {
    nvm_tx_begin(pool);
    root->words[t][i]++; /* its own: needs no lock */
    nvm_free(root->block[t]);
    root->block[t] = nvm_alloc(pool, 0, (size_t)(100 + 50 * i));
    memset(root->block[t], i, 100);
    touch_common();
#ifdef EARLY
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&others);
    root->texts++;
    pthread_mutex_unlock(&others);
    nvm_tx_commit(pool);
#else
    nvm_tx_commit(pool);
    pthread_mutex_unlock(&lock);
#endif
  }
  return NULL;
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return nvm_pool_close(pool);
}
