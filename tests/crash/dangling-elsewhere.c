// Pointers to where nothing is allocated and nothing was freed, and a root that leads there: the program is blamed,
// and the pool is not called damaged.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %pool && %exit 1 env NVMOVE_METHOD=undo %crash -- %t %pool undone | FileCheck --check-prefixes=UNDONE,ONE %s
// RUN: rm -f %pool && %exit 1 env NVMOVE_METHOD=shadow %crash -- %t %pool undone | FileCheck --check-prefixes=UNDONE,ONE %s
// UNDONE: dangling-elsewhere.c:[[@LINE+34]]:{{.*}} error: dangling pointer: field first of struct list leads to where nothing is allocated when the transaction has committed
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool grown | FileCheck --check-prefixes=GROWN,ONE %s
// GROWN: dangling-elsewhere.c:[[@LINE+47]]:{{.*}} error: dangling pointer: field end of struct list leads to where nothing is allocated
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool root | FileCheck --check-prefixes=ROOT,ONE %s
// ROOT: dangling-elsewhere.c:[[@LINE+51]]:{{.*}} error: dangling pointer: the pool's root still leads to this block when the transaction that frees it has committed
// ONE: {{^}}1 finding
// What was there before the run is told by `nvmove pool check`, and nobody is blamed for it.
// RUN: rm -f %pool && %t %pool root && %crash -- %t %pool other | FileCheck --check-prefix=OLD %s
// OLD-NOT: damaged
// OLD: no finding
// RUN: %exit 1 %nvmove pool check %pool | FileCheck --check-prefix=CHECK %s
// CHECK: the root lies in no block
#include "nvmove/nvmove.h"
#include <stdlib.h>
#include <string.h>

struct item {
  long number[8];
};
struct list {
  struct item *first, *end;
};
static NVM_POOL *pool;
static struct list *list;

static struct item *items(long count) { return nvm_calloc(pool, NVM_TYPE_ID(struct item), count, sizeof(struct item)); }

/* A block whose allocation was undone. */
static void link_undone(void) {
  nvm_tx_begin(pool);
  struct item *far = items(6), *item = items(6);
  far->number[0] = item->number[0] = 1;
  nvm_tx_abort(pool);
  nvm_tx_begin(pool);
  list->first = item;
  nvm_tx_commit(pool);
}

/* A cursor that stays in the array that was moved, and is moved on there. */
static void grow(void) {
  nvm_tx_begin(pool);
  list->first = items(2);
  list->end = list->first + 2;
  struct item *fence = items(2);
  fence->number[0] = 1;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  list->first = nvm_realloc(pool, list->first, 100 * sizeof(struct item));
  nvm_free(fence);
  list->end += 3;
  nvm_tx_commit(pool);
}

static void drop_root(void) {
  nvm_tx_begin(pool);
  nvm_free(list);
  nvm_tx_commit(pool);
}

static void add(void) {
  nvm_tx_begin(pool);
  items(1)->number[0] = 1;
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  pool = nvm_pool_open(argv[1]);
  if (!pool) {
    pool = nvm_pool_create(argv[1], 1 << 20);
    nvm_tx_begin(pool);
    list = nvm_calloc(pool, NVM_TYPE_ID(struct list), 1, sizeof *list);
    nvm_pool_set_root(pool, list);
    nvm_tx_commit(pool);
  }
  if (!strcmp(argv[2], "undone"))
    link_undone();
  else if (!strcmp(argv[2], "grown"))
    grow();
  else if (!strcmp(argv[2], "root"))
    drop_root();
  else
    add();
  return argc != 3 || nvm_pool_close(pool);
}
