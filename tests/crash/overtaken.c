// A thread commits while another, which got its lock early, is between a store of the C library's and the end of its own
// transaction: what the other stored is not taken for a part of this commit.
// RUN: %cc -O1 -pthread %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash -- %t %pool | FileCheck %s
// CHECK-NOT: error
// CHECK: 3 commits
// CHECK-NOT: not covered
// CHECK: no error
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static NVM_POOL *pool;
static struct root {
  char text[40];
} *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int released;
static int ends[2];
static FILE *stream;
static const char *volatile text = "what the first says";

static void *first(void *unused) {
  nvm_tx_begin(pool);
  pthread_mutex_lock(&lock);
  strcpy(root->text, text);
  pthread_mutex_unlock(&lock);
  released = 1;
  while (*(volatile char *)root->text != 'T') // stored, but fread is not done
    ;
  nvm_tx_commit(pool);
  write(ends[1], "Rest", 4);
  return unused;
}

static void *second(void *unused) {
  while (!released)
    ;
  nvm_tx_begin(pool);
  pthread_mutex_lock(&lock);
  fread(root->text, 1, 8, stream);
  pthread_mutex_unlock(&lock);
  nvm_tx_commit(pool);
  return unused;
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  pipe(ends);
  stream = fdopen(ends[0], "r");
  setvbuf(stream, NULL, _IONBF, 0);
  write(ends[1], "The ", 4);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return nvm_pool_close(pool);
}
