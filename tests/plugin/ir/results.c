// The results of functions that are declared `malloc`, and of realloc, lead to the pool: a commit keeps what was stored
// there before, an abort takes it back, and both are seen by what comes behind them.
// RUN: rm -f %t.pool && %cc -O0 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && %t %t.pool again
// RUN: rm -f %t.pool && %cc -O2 %s -o %t && env NVMOVE_METHOD=undo %t %t.pool && %t %t.pool again
// RUN: rm -f %t.pool && env NVMOVE_METHOD=shadow %t %t.pool && %t %t.pool again
// RUN: rm -f %t.pool && %cc -O2 -flto %s -fuse-ld=lld -o %t && env NVMOVE_METHOD=undo %t %t.pool && %t %t.pool again
// What is volatile keeps the attribute.
// RUN: %cc -O2 -emit-llvm -S %s -o - | FileCheck %s
// CHECK-LABEL: define {{.*}} @volatile_one
// CHECK: call noalias {{.*}}@malloc
// CHECK-LABEL: define {{.*}} @grow
// CHECK-NOT: noalias
// CHECK: call {{.*}}@realloc
#include "nvmove/nvmove.h"

#include <stdlib.h>
#include <unistd.h>

struct counted {
  long value, sequence;
};
struct root {
  struct counted *made, *grown;
};
static NVM_POOL *pool;

// As every xmalloc is declared.
__attribute__((malloc, returns_nonnull, noinline)) static struct counted *make(void) {
  return nvm_calloc(pool, 0, 1, sizeof(struct counted));
}

__attribute__((noinline)) static void count(struct counted *counted) {
  for (int i = 0; i < 4; i++) {
    nvm_tx_begin(pool);
    counted->value++;
    counted->sequence += i;
    if (i & 1)
      nvm_tx_abort(pool);
    else
      nvm_tx_commit(pool);
  }
}

__attribute__((noinline)) long *volatile_one(void) {
  long *one = malloc(sizeof *one);
  *one = 1;
  return one;
}

__attribute__((noinline)) void *grow(struct counted *counted) { return realloc(counted, 1010); }

__attribute__((noinline)) static long run(struct root *root) {
  nvm_tx_begin(pool);
  struct counted *made = make();
  nvm_tx_commit(pool);
  count(made);
  for (int i = 0; i < 4; i++) {
    nvm_tx_begin(pool);
    made->value += 10;
    if (i & 1)
      nvm_tx_abort(pool);
    else
      nvm_tx_commit(pool);
  }
  long sum = made->value;
  nvm_tx_begin(pool);
  root->made = made;
  nvm_tx_commit(pool);
  return sum;
}

__attribute__((noinline)) static void run_grown(struct root *root) {
  struct counted *grown = realloc(root->grown, 1010); // stays where it is
  if (grown != root->grown)
    _exit(3);
  for (int i = 1; i <= 3; i++) {
    nvm_tx_begin(pool);
    grown->value = i;
    if (nvm_tx_commit(pool))
      _exit(4);
  }
  nvm_tx_begin(pool);
  grown->value = 100;
  _exit(0); // the last never commits
}

int main(int argc, char **argv) {
  if (argc > 2) {
    pool = nvm_pool_open(argv[1]);
    struct root *root = nvm_pool_root(pool);
    return root->made->value != 22 || root->made->sequence != 2 || root->grown->value != 3;
  }
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  root->grown = nvm_calloc(pool, 0, 1, 1000);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  if (run(root) != 22)
    return 2;
  free(volatile_one());
  run_grown(root);
}
