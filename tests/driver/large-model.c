// Notes reach the runtime in the large code model, whose calls need a register for the address.
// RUN: %cc -O2 -mcmodel=large %s -o %t && %t %t.pool
// RUN: %cc -Oz -mcmodel=large %s -o %t && %t %t.pool
// RUN: %cc -O2 -fPIC -mcmodel=large %s -o %t && %t %t.pool
// RUN: %cc -O0 -mcmodel=large %s -o %t && %t %t.pool
// RUN: %cc -O2 -fno-pie -no-pie -mcmodel=large %s -o %t && %t %t.pool
// RUN: %cc -O2 -flto -mcmodel=large %s -o %t && %t %t.pool
#include "nvmove/nvmove.h"
#include <unistd.h>
__attribute__((noinline)) void st(long *p, long v) { *p = v; }
int main(int argc, char **argv) {
  long x = 0;
  st(&x, 5);
  unlink(argv[1]);
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  long *p = nvm_calloc(pool, 0, 8, 8);
  nvm_pool_set_root(pool, p);
  st(p, 7);
  if (nvm_tx_commit(pool))
    return 1;
  nvm_tx_begin(pool);
  st(p, 9);
  nvm_tx_abort(pool);
  return x != 5 || *p != 7 || nvm_pool_close(pool);
}
