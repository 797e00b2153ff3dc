// What a thread stored outside transactions and cannot be committed is undone, and nobody goes on without knowing:
// a beginning and a close fail, a commit point and the end of a thread stop the process, the end of the process
// says it.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %t.pool && env NVMOVE_METHOD=undo %t begin %t.pool | FileCheck --check-prefix=BEGIN %s
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t begin %t.pool | FileCheck --check-prefix=BEGIN %s
// BEGIN: failed: {{.*}}.pool: unsafe pointer: field p of the struct root
// BEGIN: number 0
// RUN: rm -f %t.pool && %t close %t.pool | FileCheck --check-prefix=CLOSE %s
// CLOSE: failed: {{.*}}.pool: unsafe pointer: field p of the struct root
// RUN: rm -f %t.pool && not --crash %t point %t.pool 2>&1 | FileCheck --check-prefix=STOPS %s
// RUN: rm -f %t.pool && env NVMOVE_METHOD=undo not --crash %t thread %t.pool 2>&1 | FileCheck --check-prefix=STOPS %s
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow not --crash %t thread %t.pool 2>&1 | FileCheck --check-prefix=STOPS %s
// STOPS: nvmove: {{.*}}.pool: unsafe pointer: field p of the struct root {{.*}}; the process stops
// RUN: rm -f %t.pool && %t exit %t.pool 2>&1 | FileCheck --check-prefix=EXIT %s
// EXIT: nvmove: {{.*}}.pool: unsafe pointer: field p of the struct root {{.*}}; what was stored outside transactions before the process ended is undone
// A child of the process has nothing to commit, and nothing to say.
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t fork %t.pool 2>&1 | count 0
#include "nvmove/nvmove.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct root {
  void *p;
  long number;
};
static NVM_POOL *pool;
static struct root *root;
static int outside;

NVM_COMMIT_POINT __attribute__((noinline)) static void point(void) { __asm__ volatile(""); }

static void *store(void *unused) {
  root->p = &outside;
  root->number = 5;
  return unused;
}

int main(int argc, char **argv) {
  const char *mode = argv[1];
  pool = nvm_pool_create(argv[2], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  if (strcmp(mode, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, store, NULL);
    return pthread_join(thread, NULL);
  }
  if (strcmp(mode, "fork") == 0) {
    pid_t child = fork();
    if (!child)
      store(NULL);
    return child && (wait(NULL) != child || nvm_pool_close(pool));
  }
  store(NULL);
  if (strcmp(mode, "exit") == 0)
    exit(0);
  if (strcmp(mode, "point") == 0)
    point();
  if (strcmp(mode, "begin") == 0) {
    if (nvm_tx_begin(pool))
      printf("failed: %s\n", nvm_strerror());
    printf("number %ld\n", root->number);
  }
  if (nvm_pool_close(pool))
    printf("failed: %s\n", nvm_strerror());
  return argc != 3;
}
