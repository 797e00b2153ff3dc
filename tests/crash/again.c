// A pool that is closed and opened again is traced on, recovery included; another pool is not, and the report says so.
// RUN: %cc -O1 %s -o %t && rm -f %pool %pool.2
// RUN: env NVMOVE_METHOD=undo %crash --epoch-states 4096 --samples 256 -- %t %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash --epoch-states 4096 --samples 256 -- %t %pool | FileCheck %s
// CHECK: {{[5-9]|1[0-9]}} commits
// CHECK: no finding: every state of this run recovers

// RUN: %exit 1 %crash --epoch-states 4096 --samples 256 -- %t %pool.2 %pool | FileCheck --check-prefix=OTHER %s
// OTHER: not covered: another pool was opened ({{[1-9]}} times)
// OTHER: no finding in the states that were judged; that is not all of them

// Recovery that fails in its turn, in each state: also where the crash before tore one copy of the header.
// RUN: rm -f %pool && %crash --epoch-states 4096 --samples 256 --interrupt-every %sizes{16|1} -- %t %pool | FileCheck %s

// A run of several processes: the second finds the trace in use.
// RUN: rm -f %pool && %exit 1 %crash --epoch-states 4096 --samples 256 -- sh -c "%t %pool && %t %pool" | FileCheck --check-prefix=OTHER %s
#include "nvmove/nvmove.h"

static void change(NVM_POOL *pool) {
  nvm_tx_begin(pool);
  long *p = nvm_alloc(pool, 0, 100);
  p[0] = p[5] = 7;
  nvm_pool_set_root(pool, p);
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  pool = pool ? pool : nvm_pool_create(argv[1], 1 << 20);
  for (int i = 0; i < 4; i++) {
    nvm_pool_close(pool);
    pool = nvm_pool_open(argv[1]);
    change(pool);
  }
  NVM_POOL *other = argc > 2 ? nvm_pool_open(argv[2]) : pool;
  change(other);
  if (other != pool)
    nvm_pool_close(other);
  return nvm_pool_close(pool);
}
