// A repair of a pool that was cut is put back: the file is as it was, and no longer.
// RUN: %cc %s -o %t && rm -f %pool %pool.* && %t %pool && truncate -s -2460K %pool && cp %pool %pool.cut
// RUN: %exit 1 %nvmove pool repair %pool --null-dangling | FileCheck %s && not cmp -s %pool %pool.cut
// CHECK: mended: the file ended {{[0-9]+}} bytes too early; what was in {{[0-9]+}} chunks is lost
// RUN: %nvmove pool repair %pool --undo %pool.repair-1 && cmp %pool %pool.cut
#include "nvmove/nvmove.h"

#include <stdio.h>

struct item {
  struct item *next;
  char text[70000];
};

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 2 << 20);
  struct item *first = NULL;
  nvm_tx_begin(pool);
  for (int i = 0; i < 30; i++) {
    struct item *made = nvm_calloc(pool, NVM_TYPE_ID(struct item), 1, sizeof *made);
    if (!made)
      break;
    made->next = first;
    made->text[i] = 1;
    first = made;
  }
  nvm_pool_set_root(pool, first);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
