// A thread ends inside of an atomic function, by pthread_exit or because it is cancelled. Its handlers of pthread_cleanup_push run on
// the way: what is open is undone all the same, with what they store. A jump to a place beside such a handler still commits.
// RUN: %cc -O0 -pthread %s -o %t && rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.pool
// RUN: %cc -O2 -pthread %s -o %t && rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool
// RUN: %cc -O2 -fexceptions -pthread %s -o %t && rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.pool
// RUN: %cc -O2 -S -emit-llvm -o - %s | FileCheck %s
// RUN: %cc -O2 -S -emit-llvm -fexceptions -o - %s | FileCheck --check-prefix=PADS %s
// CHECK: call void @__nvm_atomic_unwound(
// PADS: call void @__nvm_atomic_thrown(
#include <nvmove/nvmove.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
  long from, to, cleaned;
};
static struct pair *pair;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jmp_buf beside;
enum how { EXITS, CANCELLED, JUMPS };

static void unlock(void *unused) {
  jmp_buf own;
  (void)unused;
  if (!setjmp(own))
    longjmp(own, 1);
  pair->cleaned++;
  pthread_mutex_unlock(&lock);
}

NVM_ATOMIC __attribute__((noinline)) static void transfer(enum how how) {
  pair->from--;
  if (how == EXITS)
    pthread_exit(NULL);
  if (how == CANCELLED)
    pthread_testcancel();
  if (how == JUMPS)
    longjmp(beside, 1);
  pair->to++;
}

static void *run(void *how) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, NULL);
  if (*(enum how *)how == CANCELLED)
    pthread_cancel(pthread_self());
  if (!setjmp(beside))
    transfer(*(enum how *)how);
  pthread_cleanup_pop(1);
  return NULL;
}

static void check(enum how how, long from, long cleaned) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, &how);
  pthread_join(thread, NULL);
  if (pair->from != from || pair->to || pair->cleaned != cleaned) {
    printf("%d: from %ld to %ld cleaned %ld\n", how, pair->from, pair->to, pair->cleaned);
    exit(1);
  }
}

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  pair = nvm_calloc(pool, 0, 1, sizeof *pair);
  nvm_pool_set_root(pool, pair);
  nvm_tx_commit(pool);
  check(EXITS, 0, 0);
  check(CANCELLED, 0, 0);
  check(JUMPS, -1, 1);
  return nvm_pool_close(pool) != 0;
}
