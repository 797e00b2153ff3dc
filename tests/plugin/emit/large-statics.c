// Pointers to functions, wherever they lie in a large block, hold after a restart of another build.
// RUN: rm -f %t.pool && %cc %s -O0 -o %t.1 && %t.1 %t.pool && %t.1 %t.pool | FileCheck %s
// RUN: %cc %s -O2 -DMOVED -o %t.2 && %t.2 %t.pool | FileCheck %s && %t.1 %t.pool | FileCheck %s
// CHECK: 8000 of 8000
#include "nvmove/nvmove.h"

#include <stdio.h>

enum { ENTRIES = 10000, FIRST = 2000, MANY = ENTRIES - FIRST }; /* none within the first chunk */
struct entry {
  int (*apply)(int);
  long number;
};

#ifdef MOVED
int moved(int n) { return n < 2 ? 1 : moved(n - 1) * moved(n - 2); }
#endif
int twice(int n) { return 2 * n; }
int thrice(int n) { return 3 * n; }

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  if (!pool) {
    pool = nvm_pool_create(argv[1], 4 << 20);
    nvm_tx_begin(pool);
    struct entry *made = nvm_calloc(pool, NVM_TYPE_ID(struct entry), ENTRIES, sizeof *made);
    nvm_pool_set_root(pool, made);
    nvm_tx_commit(pool);
    for (int i = 0; i < MANY; i += 1000) {
      nvm_tx_begin(pool);
      for (int j = 0; j < 1000; j++)
        made[FIRST + i + j].apply = (i + j) % 2 ? twice : thrice;
      if (nvm_tx_commit(pool) != 0)
        return 1;
    }
    return nvm_pool_close(pool);
  }
  struct entry *entries = nvm_pool_root(pool);
  int right = 0;
  for (int i = 0; i < MANY; i++)
    right += entries[FIRST + i].apply(7) == (i % 2 ? 14 : 21);
  printf("%d of %d\n", right, MANY);
  return nvm_pool_close(pool);
}
