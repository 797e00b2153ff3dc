// A pointer to a block that the program freed: told at the free, with the field, whatever the settings; and it is not
// the library that is blamed where a recovery moves the pool.
// RUN: %cc -O1 %s -o %t
// RUN: rm -f %pool && %exit 1 env NVMOVE_METHOD=undo %crash -- %t %pool stays | FileCheck --check-prefixes=STAYS,ONE %s
// RUN: rm -f %pool && %exit 1 env NVMOVE_METHOD=shadow %crash -- %t %pool stays | FileCheck --check-prefixes=STAYS,ONE %s
// RUN: rm -f %pool && %exit 1 %crash --interrupt-every 1 --epoch-states 4 --samples 2 -- %t %pool stays | FileCheck --check-prefixes=STAYS,ONE %s
// STAYS: dangling.c:[[@LINE+58]]:5: error: dangling pointer: field head of struct list still leads to this block when the transaction that frees it has committed
// STAYS: called from main
// STAYS: dangling.c:[[@LINE+44]]:14: note: the pointer was stored here
// STAYS: dangling.c:[[@LINE+56]]:3: note: the transaction commits here
// ONE: {{^}}1 finding
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool later | FileCheck --check-prefix=LATER %s
// LATER: dangling.c:[[@LINE+52]]:5: error: dangling pointer: field head of struct list still leads
// LATER: {{^}}1 finding
// Two fields, one of them in an array; by free():
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool two | FileCheck --check-prefix=TWO %s
// TWO: dangling.c:[[@LINE+46]]:5: error: dangling pointer: field head of struct list still leads
// TWO: note: so does field more[2] of struct list, which was stored here
// TWO: {{^}}1 finding
// What was there before the run:
// RUN: rm -f %pool && %t %pool fill && %exit 1 %crash -- %t %pool old | FileCheck --check-prefix=OLD %s
// OLD: dangling.c:[[@LINE+43]]:5: error: dangling pointer: field head of struct list still leads
// A pointer that is stored when the block is free already:
// RUN: rm -f %pool && %exit 1 %crash -- %t %pool again | FileCheck --check-prefix=AGAIN %s
// AGAIN: dangling.c:[[@LINE+46]]:15: error: dangling pointer: field other of struct list leads to a block that is free when the transaction has committed
// AGAIN: dangling.c:[[@LINE+39]]:5: note: the block was freed here
// AGAIN: {{^}}1 finding
// Unlinked first or together, an aborted free, ends of arrays, and a block that nobody knows the type of:
// RUN: rm -f %pool && %crash -- %t %pool right | FileCheck --check-prefix=RIGHT %s
// RIGHT: no finding
#include "nvmove/nvmove.h"
#include <stdlib.h>
#include <string.h>

struct item {
  long number[8];
};
struct list {
  struct item *head, *other;
  struct item *more[4];
  struct item *end;
  void **untyped;
};

static NVM_POOL *pool;
static struct list *list;

static void fill(void) {
  nvm_tx_begin(pool);
  list = nvm_calloc(pool, NVM_TYPE_ID(struct list), 1, sizeof *list);
  nvm_pool_set_root(pool, list);
  list->untyped = nvm_calloc(pool, 0, 2, sizeof(void *));
  list->head = nvm_calloc(pool, NVM_TYPE_ID(struct item), 1, sizeof *list->head);
  nvm_tx_commit(pool);
}

__attribute__((noinline)) static void drop(int unlinks, int by_free) {
  nvm_tx_begin(pool);
  struct item *head = list->head;
  if (unlinks)
    list->head = NULL;
  if (by_free)
    free(head);
  else
    nvm_free(head);
  nvm_tx_commit(pool);
}

static void set_other(struct item *item) {
  nvm_tx_begin(pool);
  list->other = item;
  nvm_tx_commit(pool);
}

static void right(void) {
  nvm_tx_begin(pool);
  list->untyped[0] = list->head;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  nvm_free(list->head);
  nvm_tx_abort(pool);
  drop(1, 0);
  nvm_tx_begin(pool);
  struct item *many = nvm_calloc(pool, NVM_TYPE_ID(struct item), 2, sizeof *many);
  struct item *behind = nvm_calloc(pool, NVM_TYPE_ID(struct item), 2, sizeof *many);
  list->head = many;
  list->end = many + 2;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  nvm_free(behind);
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  const char *what = argv[2];
  pool = nvm_pool_open(argv[1]);
  if (pool)
    list = nvm_pool_root(pool);
  else if ((pool = nvm_pool_create(argv[1], 1 << 20)))
    fill();
  struct item *head = list->head;
  if (!strcmp(what, "two")) {
    nvm_tx_begin(pool);
    list->more[2] = head;
    nvm_tx_commit(pool);
  }
  if (!strcmp(what, "right"))
    right();
  else if (strcmp(what, "fill"))
    drop(!strcmp(what, "again"), !strcmp(what, "two"));
  if (!strcmp(what, "again"))
    set_other(head);
  if (!strcmp(what, "later")) {
    nvm_tx_begin(pool);
    list->head = NULL;
    nvm_tx_commit(pool);
  }
  return argc < 3 || nvm_pool_close(pool);
}
