// `nvmove pool convert` without a program: types stay, and the map decides for what has no type and for unions.
// RUN: %cc %s -o %t && split-file %s %t.maps && rm -f %pool %pool.n && %t %pool
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --size 16M 2>&1 | FileCheck --check-prefix=REFUSED %s
// REFUSED: error: field [] of block without type at @0x{{.*}} may be a pointer or a number ('undecided: pointers' or 'numbers' in the map
// RUN: %nvmove pool convert %pool %pool.n --size 16M --map %t.maps/pointers | FileCheck --check-prefix=POINTERS %s && %t %pool.n
// POINTERS: 2 blocks, 0 of types that changed, 1 pointers
// RUN: rm %pool.n && %nvmove pool convert %pool %pool.n --size 2G --map %t.maps/pointers && %t %pool.n
// RUN: rm %pool.n && %nvmove pool convert %pool %pool.n --map %t.maps/numbers | FileCheck --check-prefix=NUMBERS %s
// NUMBERS: 2 blocks, 0 of types that changed, 0 pointers
// RUN: rm %pool.n && %exit 2 %nvmove pool convert %pool %pool.n --layouts %t 2>&1 | FileCheck --check-prefix=PROGRAM %s
// PROGRAM: it describes no types; was it linked by nvmove-cc? If so, it needs no '--layouts': 'undecided' in the map decides for blocks without type
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --map %t.maps/second 2>&1 | FileCheck --check-prefix=SECOND %s
// SECOND: second:3:1: error: a second document behind '---'
// RUN: %cc -DTYPED %s -o %t && rm %pool && %t %pool
// RUN: %exit 2 %nvmove pool convert %pool %pool.n --size 16M 2>&1 | FileCheck --check-prefix=UNION %s
// UNION: error: field {{.*}} of struct pair at @0x{{.*}} may be a pointer or a number
// RUN: %nvmove pool convert %pool %pool.n --size 16M --map %t.maps/pointers && %t %pool.n
#include "nvmove/nvmove.h"

#include <unistd.h>

#ifdef TYPED
struct pair {
  union {
    void *to;
    long number;
  } one;
  long two;
};
#define TYPE NVM_TYPE_ID(struct pair)
#else
#define TYPE 0
#endif

int main(int argc, char **argv) {
  if (argc > 1 && access(argv[1], F_OK) == 0) {
    NVM_POOL *pool = nvm_pool_open(argv[1]);
    void **from = pool ? nvm_pool_root(pool) : NULL;
    return !from || nvm_pool_of(from[0]) != pool || ((long *)from[0])[1] != 7 ||
           nvm_pool_close(pool);
  }
  NVM_POOL *pool = nvm_pool_create(argv[1], 4 << 20);
  nvm_tx_begin(pool);
  void **from = nvm_calloc(pool, TYPE, 1, 16);
  long *to = nvm_calloc(pool, TYPE, 1, 16);
  from[0] = to;
  to[1] = 7;
  nvm_pool_set_root(pool, from);
  return nvm_tx_commit(pool) || nvm_pool_close(pool);
}
#if 0
//--- pointers
undecided: pointers
//--- numbers
undecided: numbers
//--- second
undecided: pointers
---
undecided: numbers
//--- end
#endif
