// What happens after the first opening is not known, and the report does not hide it.
// RUN: %cc -O1 %s -o %t && rm -f %pool
// RUN: %exit 1 %crash -- %t %pool | FileCheck %s
// CHECK: not covered: another pool was opened, or this one again (2 times)
// CHECK: no finding in the states that were judged; that is not all of them
#include "nvmove/nvmove.h"

int main(int argc, char **argv) {
  const char *path = argv[argc - 1];
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  for (int i = 0; i < 2; i++) {
    nvm_pool_close(pool);
    pool = nvm_pool_open(path);
    nvm_tx_begin(pool);
    nvm_pool_set_root(pool, nvm_alloc(pool, 0, 100));
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
