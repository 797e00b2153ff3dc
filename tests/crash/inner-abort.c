// What follows an inner abort is still inside the outer transaction, which fails and is undone as a whole: no store of it
// is outside a transaction. The report counts commits that fail, for who does not look at their result.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash --epoch-states 4096 --samples 256 -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash --epoch-states 4096 --samples 256 -- %t %pool | FileCheck %s
// RUN: rm -f %pool && %crash --epoch-states 4096 --samples 256 --format=json -- %t %pool | FileCheck --check-prefix=JSON %s
// CHECK-NOT: error
// CHECK: 2 commits of the program failed, and undid what was to be saved; does the program look at the result? The first: the transaction was aborted, at {{.*}}inner-abort.c:[[#@LINE+26]]
// CHECK: no finding: every state
// JSON: "failed_commits": 2
#include "nvmove/nvmove.h"

struct stock {
  long orders, left[2];
};
static NVM_POOL *pool;
static struct stock *stock;

static int take(int which) {
  nvm_tx_begin(pool);
  stock->left[which] -= 2;
  if (stock->left[which] < 0) {
    nvm_tx_abort(pool);
    return -1;
  }
  return nvm_tx_commit(pool);
}

static int order(void) {
  nvm_tx_begin(pool);
  take(0);
  stock->orders++; // behind the abort
  take(1);         // begins, stores and commits there
  return nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  stock = nvm_calloc(pool, NVM_TYPE_ID(struct stock), 1, sizeof *stock);
  stock->left[0] = 3;
  stock->left[1] = 9;
  nvm_pool_set_root(pool, stock);
  nvm_tx_commit(pool);
  int good = order() == 0 && order() && order() && stock->orders == 1 && stock->left[1] == 7;
  return argc != 2 || !good || nvm_pool_close(pool);
}
