// A signal handler that begins a transaction is told, whatever it interrupts; one that stores is right.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool begins | FileCheck %s
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool inside | FileCheck %s
// CHECK: handler-begins.c:[[#@LINE+14]]:{{.*}} error: begin in a signal handler: a signal handler begins a transaction
// CHECK: {{^}}1 finding
// RUN: rm -f %pool && %crash -- %t %pool stores | FileCheck --check-prefix=STORES %s
// STORES: no finding: every state
#include "nvmove/nvmove.h"
#include <signal.h>
#include <string.h>

static NVM_POOL *pool;
static long *numbers;
static int begins;

static void handle(int number) {
  if (begins)
    nvm_tx_begin(pool);
  numbers[1] += number;
  if (begins)
    nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  numbers = nvm_calloc(pool, NVM_TYPE_ID(long), 2, sizeof *numbers);
  nvm_pool_set_root(pool, numbers);
  nvm_tx_commit(pool);
  begins = argc == 3 && strcmp(argv[2], "stores");
  signal(SIGUSR1, handle);
  if (argc == 3 && strcmp(argv[2], "begins") == 0)
    raise(SIGUSR1);
  nvm_tx_begin(pool);
  numbers[0]++;
  if (argc == 3 && strcmp(argv[2], "begins"))
    raise(SIGUSR1);
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
