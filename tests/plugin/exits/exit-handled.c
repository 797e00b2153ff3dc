// A signal handler stores while the process exits, and then a function of exit stores to the same bytes: all of it is kept.
// RUN: %cc -O1 %s -o %t && rm -f %t.pool && env NVMOVE_METHOD=undo %t %t.pool && env NVMOVE_METHOD=undo %t %t.pool | FileCheck %s
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool && env NVMOVE_METHOD=shadow %t %t.pool | FileCheck %s
// CHECK: number 2
#include <nvmove/nvmove.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long *number;
static void handle(int signal_number) {
  (void)signal_number;
  ++*number;
}

// Behind the function in which libnvmove leaves the pools: it is registered before.
static void at_exit(void) {
  raise(SIGUSR1);
  ++*number;
}

int main(int argc, char **argv) {
  (void)argc;
  atexit(at_exit);
  signal(SIGUSR1, handle);
  NVM_POOL *pool = access(argv[1], F_OK) ? nvm_pool_create(argv[1], 1 << 20) : nvm_pool_open(argv[1]);
  number = nvm_pool_root(pool);
  if (number) {
    printf("number %ld\n", *number);
    fflush(stdout);
    _exit(0);
  }
  nvm_tx_begin(pool);
  number = nvm_calloc(pool, 0, 1, sizeof *number);
  nvm_pool_set_root(pool, number);
  nvm_tx_commit(pool);
  return 0;
}
