// A restricted pointer leads to the pool: a commit keeps what was stored through it before, an abort takes it back, and
// both are seen by what comes behind them.
// RUN: rm -f %t.pool && %cc -O0 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && %t %t.pool again
// RUN: rm -f %t.pool && %cc -O2 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && %t %t.pool again
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool && %t %t.pool again
// Where nothing is called the optimizer keeps what the program promised.
// RUN: %cc -O2 -emit-llvm -S %s -o - | FileCheck %s
// CHECK: define {{.*}} @add(ptr {{.*}}noalias
#include "nvmove/nvmove.h"

#include <unistd.h>

struct account {
  long value, sequence;
};
static NVM_POOL *pool;

__attribute__((noinline)) static void post(struct account *restrict account) {
  nvm_tx_begin(pool);
  account->value += 7;
  account->sequence++;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  account->value += 100;
  account->sequence++;
  _exit(0); // the second never commits
}

__attribute__((noinline)) static long try(struct account *restrict account) {
  nvm_tx_begin(pool);
  account->value = 999;
  nvm_tx_abort(pool);
  return account->value;
}

void add(long *restrict to, const long *from, long count) {
  for (long i = 0; i < count; i++)
    to[i] += from[i];
}

int main(int argc, char **argv) {
  if (argc > 2) {
    pool = nvm_pool_open(argv[1]);
    struct account *account = nvm_pool_root(pool);
    return account->value != 7 || account->sequence != 1;
  }
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  struct account *account = nvm_calloc(pool, 0, 1, sizeof *account);
  nvm_pool_set_root(pool, account);
  nvm_tx_commit(pool);
  if (try(account))
    return 2;
  post(account);
}
