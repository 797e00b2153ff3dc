// A commit leaves what the checker refuses, later ones leave it so, and one mends it: the first of them is to blame, and no other.
// RUN: rm -rf %t && mkdir %t && %plain -DCHECKER -shared -fPIC -I %include %s -o %t/check.so && %cc -O1 %s -o %t/program
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %exit 1 %crash --check %t/check.so -- %t/program %pool ggwggghgg | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %exit 1 %crash --check %t/check.so -- %t/program %pool ggwggghgg | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %exit 1 %crash --model=process --check %t/check.so -- %t/program %pool ggwggghgg | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %exit 1 %crash --check %t/check.so -- %t/program %pool gwhgwgg | FileCheck --check-prefix=TWICE %s
// CHECK: healed.c:[[@LINE+29]]:3: error: checker: nvm_crash_check returned 1, in the state that commit 4 leaves
// CHECK: {{^}}1 finding{{$}}
// TWICE: healed.c:[[@LINE+27]]:3: error: checker: nvm_crash_check returned 1, in the state that commit 3 leaves
// TWICE: {{^}}1 finding{{$}}
#include "nvmove/nvmove.h"

struct root {
  long a, b;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct root *root = nvm_pool_root(pool);
  return root && root->a != root->b;
}
#else
static NVM_POOL *pool;
static struct root *root;

static void good(void) {
  nvm_tx_begin(pool);
  root->a++;
  root->b++;
  nvm_tx_commit(pool);
}

static void wrong(void) {
  nvm_tx_begin(pool);
  root->a++;
  nvm_tx_commit(pool);
}

static void heal(void) {
  nvm_tx_begin(pool);
  root->b = root->a;
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[argc - 2], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  for (const char *what = argv[argc - 1]; *what; what++)
    (*what == 'g' ? good : *what == 'w' ? wrong : heal)();
  return nvm_pool_close(pool);
}
#endif
