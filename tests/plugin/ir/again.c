// Behind a call that returns a second time nothing counts as noted: transactions may have ended in between.
// RUN: rm -f %t.*pool && %cc -O2 %s -o %t.2 && env NVMOVE_METHOD=undo %t.2 %t.undo.pool && env NVMOVE_METHOD=shadow %t.2 %t.shadow.pool
// RUN: rm -f %t.*pool && %cc -O3 -DLIBRARY %s -o %t.3 && env NVMOVE_METHOD=undo %t.3 %t.undo.pool && env NVMOVE_METHOD=shadow %t.3 %t.shadow.pool
#include "nvmove/nvmove.h"

#include <setjmp.h>

#ifdef LIBRARY
static jmp_buf place;
#define RETURNS_TWICE() setjmp(place)
#define RETURN_AGAIN() longjmp(place, 1)
#else
static void *place[5];
#define RETURNS_TWICE() __builtin_setjmp(place)
#define RETURN_AGAIN() __builtin_longjmp(place, 1)
#endif

__attribute__((noinline)) static void again(void) { RETURN_AGAIN(); }

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  long *number = nvm_calloc(pool, 0, 1, sizeof *number);
  *number = 1;
  if (!number || nvm_tx_commit(pool) != 0)
    return 2;
  nvm_tx_begin(pool);
  *number = 2;
  if (RETURNS_TWICE() == 0) {
    nvm_tx_abort(pool);
    nvm_tx_begin(pool);
    again();
  }
  *number = 3;
  nvm_tx_abort(pool);
  return *number != 1;
}
