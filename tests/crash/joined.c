// A transaction that depends on one that cannot end before it joins that one: no state has the one without the
// other, and nothing of it is durable before both are.
// RUN: %cc -O1 -pthread %s -o %t
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash -- %t %pool | FileCheck %s
// CHECK: warning: lock released inside an open transaction
// CHECK: 2 commits
// CHECK: no finding

// RUN: %cc -O1 -pthread -DREPLY %s -o %t.reply && rm -f %pool
// RUN: %exit 1 %crash -- %t.reply %pool | FileCheck --check-prefix=REPLY %s
// REPLY: joined.c:[[@LINE+26]]:{{.*}} error: output before commit
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <unistd.h>

static NVM_POOL *pool;
static struct root {
  long common, own[2][16]; /* what one thread flushes is no line of the other's */
} *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t released, done;

static void add(int thread) {
  pthread_mutex_lock(&lock);
  root->common += thread + 1;
  root->own[thread][8] = root->common;
  pthread_mutex_unlock(&lock);
}

static void *second(void *unused) {
  pthread_barrier_wait(&released);
  nvm_tx_begin(pool);
  add(1);
  nvm_tx_commit(pool);
#ifdef REPLY
  write(1, "stored\n", 7);
#endif
  pthread_barrier_wait(&done);
  return NULL;
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  pthread_barrier_init(&released, NULL, 2);
  pthread_barrier_init(&done, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, second, NULL);
  nvm_tx_begin(pool);
  add(0);
  pthread_barrier_wait(&released);
  pthread_barrier_wait(&done);
  nvm_tx_commit(pool);
  pthread_join(thread, NULL);
  return nvm_pool_close(pool);
}
