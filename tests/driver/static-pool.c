// A program that is linked statically opens a pool and finds it again, position-independent or not.
// RUN: rm -f %t.pool && %cc -O1 -w %s -static -o %t.1 && %t.1 %t.pool && %t.1 %t.pool
// RUN: %cc -O1 -w %s -static-pie -o %t.2 && %t.2 %t.pool && %t.1 %t.pool | FileCheck %s
// CHECK: 4 starts
#include "nvmove/nvmove.h"

#include <stdio.h>

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  if (!pool && nvm_errno() == NVM_EMISSING)
    pool = nvm_pool_create(argv[1], 1 << 20);
  if (!pool) {
    puts(nvm_strerror());
    return 1;
  }
  nvm_tx_begin(pool);
  long *starts = nvm_pool_root(pool);
  if (!starts) {
    starts = nvm_calloc(pool, NVM_TYPE_ID(long), 1, sizeof *starts);
    nvm_pool_set_root(pool, starts);
  }
  ++*starts;
  if (nvm_tx_commit(pool) != 0)
    return 1;
  printf("%ld starts\n", *starts);
  return nvm_pool_close(pool);
}
