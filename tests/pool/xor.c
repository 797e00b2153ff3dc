// A pool with a field made of two pointers: what can be reached is not known, and that is said; all else
// works.
// RUN: %cc %s -o %t && rm -f %pool && %t %pool
// RUN: %nvmove pool info %pool | FileCheck --check-prefix=INFO %s
// INFO: 2 blocks {{.*}} struct both
// RUN: %nvmove pool dump %pool 2>&1 | FileCheck --check-prefix=DUMP %s
// DUMP-COUNT-2: struct both, 16 bytes{{$}}
// DUMP: warning: {{.*}}what can be reached is not known: field neighbours of struct both is made of two pointers
// RUN: %nvmove pool check %pool
// RUN: %exit 2 %nvmove pool leaks %pool 2>&1 | FileCheck --check-prefix=LEAKS %s
// RUN: %exit 2 %nvmove pool gc %pool 2>&1 | FileCheck --check-prefix=LEAKS %s
// LEAKS: error: {{.*}}what can be reached is not known
#include "nvmove/nvmove.h"

typedef NVM_STRUCT both {
  NVM_XOR_PTR uintptr_t neighbours;
  long value;
}
both;

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  both *first = nvm_calloc(pool, NVM_TYPE_ID(both), 1, sizeof *first);
  both *second = nvm_calloc(pool, NVM_TYPE_ID(both), 1, sizeof *second);
  first->neighbours = (uintptr_t)second;
  second->neighbours = (uintptr_t)first;
  nvm_pool_set_root(pool, first);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
