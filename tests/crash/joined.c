// Commits that wait for each other become one: no state has the one without the other, and neither returns before
// both are durable.
// RUN: %cc -O1 -pthread %s -o %t
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash -- %t %pool | FileCheck %s
// CHECK: warning: lock released inside an open transaction
// CHECK: 2 commits
// CHECK: no error
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <unistd.h>

static NVM_POOL *pool;
static struct root {
  long common[2], own[2][16]; /* what one thread flushes is no line of the other's */
} *root;
static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t released;

static void add(int thread, int to) {
  pthread_mutex_lock(&lock[to]);
  root->common[to] += thread + 1;
  root->own[thread][8] = root->common[to];
  pthread_mutex_unlock(&lock[to]);
}

static void *work(void *number) {
  int thread = (int)(long)number;
  nvm_tx_begin(pool);
  add(thread, thread);
  pthread_barrier_wait(&released);
  add(thread, !thread);
  pthread_barrier_wait(&released);
  nvm_tx_commit(pool);
  write(1, "stored\n", 7);
  return NULL;
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  pthread_barrier_init(&released, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, work, (void *)1);
  work((void *)0);
  pthread_join(thread, NULL);
  return nvm_pool_close(pool);
}
