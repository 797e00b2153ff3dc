// Blocks whose bytes go directly to the file, again and again where another was freed a transaction ago, whose last
// stores are in a record that may be replayed.
// RUN: %cc -O1 %s -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 4 --samples 2 --per-point 2|--epoch-states 16 --samples 8} -- %t %pool | FileCheck %s
// RUN: %cc -O1 -DSIZE=1000 %s -o %t.short && rm -f %pool
// RUN: env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 4 --samples 2 --per-point 2|--epoch-states 16 --samples 8} -- %t.short %pool | FileCheck %s
// RUN: rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 4 --samples 2 --per-point 2|--epoch-states 16 --samples 8} -- %t %pool | FileCheck %s
// CHECK: {{[1-9][0-9]*}} commits
// CHECK-NOT: not covered
// CHECK: no finding
#include "nvmove/nvmove.h"

#include <string.h>

#ifndef SIZE
#define SIZE 20000 // a record of several frames without
#endif
enum { TURNS = 6, MARK = 256 };

static struct root {
  long turn;
  char *block;
} *root;

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  for (long turn = 1; turn <= TURNS; turn++) {
    nvm_tx_begin(pool);
    root->turn = turn;
    char *block = nvm_alloc(pool, 0, SIZE);
    memset(block, (int)turn, SIZE);
    block[SIZE / 2] = 0;
    root->block = block;
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
    memset(block + MARK, 0xee, MARK); // worth nothing afterwards, and must not come back
    nvm_free(block);
    root->block = 0;
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
