// A pool is not opened by a program that lays its types out otherwise; where no block of the old
// layout is left, or the pool alone knows the type, nothing is wrong.
// RUN: rm -f %t.pool %t.empty && %cc %s -O1 -DLAYOUT=1 -o %t.1 && %t.1 create %t.pool keep && %t.1 create %t.empty drop
// RUN: %t.1 open %t.pool | FileCheck --check-prefix=SAME %s
// SAME: ok 7
// RUN: %cc %s -O0 -DLAYOUT=2 -o %t.2 && %exit 1 %t.2 open %t.pool 2>&1 | FileCheck --check-prefix=MOVED %s
// MOVED: the program's struct node is not the pool's: field value is signed of 4 bytes at 8 there, signed of 4 bytes at 16 here
// RUN: %t.2 open %t.empty | FileCheck --check-prefix=EMPTY %s
// EMPTY: ok 0
// RUN: %cc %s -DLAYOUT=3 -o %t.3 && %exit 1 %t.3 open %t.pool 2>&1 | FileCheck --check-prefix=GONE %s
// GONE: field value is only in the pool's
// RUN: %cc %s -DLAYOUT=4 -o %t.4 && %exit 1 %t.4 open %t.pool 2>&1 | FileCheck --check-prefix=MARK %s
// MARK: field next points to something else, or is marked otherwise
// RUN: %cc %s -DLAYOUT=5 -o %t.5 && %t.5 open %t.pool | FileCheck --check-prefix=SAME %s
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

#if LAYOUT == 1
typedef NVM_STRUCT node {
  struct node *next;
  int value;
} node;
#elif LAYOUT == 2
typedef NVM_STRUCT node {
  struct node *next;
  long count;
  int value;
} node;
#elif LAYOUT == 3
typedef NVM_STRUCT node {
  struct node *next;
} node;
#elif LAYOUT == 4
typedef NVM_STRUCT node {
  NVM_WEAK_PTR(struct node) next;
  int value;
} node;
#else
typedef NVM_STRUCT knot {
  struct knot *next;
  int value;
} node;
#endif

static int value_of(const node *first) {
#if LAYOUT == 3
  return !first;
#else
  return first ? first->value : 0;
#endif
}

int main(int argc, char **argv) {
  if (argc > 3 && strcmp(argv[1], "create") == 0) {
    NVM_POOL *pool = nvm_pool_create(argv[2], 1 << 20);
    nvm_tx_begin(pool);
    node *first = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof(node));
#if LAYOUT != 3
    first->value = 7;
#endif
    nvm_pool_set_root(pool, first);
    nvm_tx_commit(pool);
    if (strcmp(argv[3], "drop") == 0) {
      nvm_free(first);
      nvm_pool_set_root(pool, NULL);
    }
    return nvm_pool_close(pool) != 0;
  }
  NVM_POOL *pool = nvm_pool_open(argv[2]);
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), nvm_errno() == NVM_ELAYOUT ? 1 : 2;
  printf("ok %d\n", value_of(nvm_pool_root(pool)));
  return nvm_pool_close(pool) != 0;
}
