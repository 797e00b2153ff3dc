// A mark of a flexible array's element is a part of the layout of the record that ends with it.
// RUN: rm -f %t.pool && %cc -O1 %s -o %t.1 && %t.1 %t.pool && %t.1 %t.pool
// RUN: %cc -O1 -DMARK=NVM_VOLATILE %s -o %t.2 && not %t.2 %t.pool 2>&1 | FileCheck %s
// CHECK: the program's struct record is not the pool's
#include "nvmove/nvmove.h"

#include <stdio.h>

#ifndef MARK
#define MARK
#endif
struct element {
  long number;
  MARK void *pointer;
};
struct record {
  long count;
  struct element element[];
};

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(argv[1], 1 << 20);
    nvm_tx_begin(pool);
    nvm_pool_set_root(pool, nvm_calloc(pool, NVM_TYPE_ID(struct record), 1,
                                       sizeof(struct record) + argc * sizeof(struct element)));
    nvm_tx_commit(pool);
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  return nvm_pool_close(pool);
}
