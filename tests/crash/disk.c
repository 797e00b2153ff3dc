// On an ordinary file nothing is promised when the machine fails, and the report says so; but no image makes
// recovery crash.
// RUN: %cc -O1 %s -o %t && rm -f %pool
// RUN: %exit 1 env NVMOVE_METHOD=undo %nvmove crash -q --strict --model=disk --samples 32 -- %t %pool | FileCheck %s
// RUN: rm -f %pool
// RUN: env NVMOVE_METHOD=shadow %nvmove crash -q --model=disk --samples 32 -- %t %pool | FileCheck %s
// CHECK: disk model: {{[1-9][0-9]+}} states
// CHECK-NEXT: a failure of the machine, on an ordinary file: {{[0-9]+}} of these states are not opened, {{[1-9][0-9]*}} open with other data
// CHECK-NEXT: no finding in the states that were judged; that is not all of them
#include "nvmove/nvmove.h"

#include <string.h>

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  for (int i = 0; i < 12; i++) { // it grows, too
    nvm_tx_begin(pool);
    char *block = nvm_alloc(pool, 0, 150000);
    memset(block, i, 150000);
    nvm_pool_set_root(pool, block);
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
