// A pool that counts references survives every crash: counts are those of its words, whatever was on
// its way, and what they free is nobody's.
// RUN: %cc %s -O1 -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 8 --samples 4 --per-point 3|--epoch-states 32 --samples 16} -- %t %pool 2>&1 | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 8 --samples 4 --per-point 3|--epoch-states 32 --samples 16} -- %t %pool 2>&1 | FileCheck %s
// CHECK: no finding: each failure point was explored, but not every state of it
#include "nvmove/inspect.h"
#include "nvmove/nvmove.h"

#include <stdio.h>

typedef NVM_STRUCT node {
  struct node *next;
  NVM_WEAK_PTR(struct node) back;
  long value;
} node;

static void push(NVM_POOL *pool, long value) {
  nvm_tx_begin(pool);
  node *made = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *made), *first = nvm_pool_root(pool);
  made->value = value;
  made->next = first;
  if (first)
    first->back = made;
  nvm_pool_set_root(pool, made);
  nvm_tx_commit(pool);
}

/* Every second one, which nobody frees. */
static void drop(NVM_POOL *pool) {
  nvm_tx_begin(pool);
  for (node *at = nvm_pool_root(pool); at && at->next; at = at->next)
    at->next = at->next->next;
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  NVM_POOL *pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  push(pool, 0);
  if (nvm_pool_count_references(pool))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 6; i++)
      push(pool, i);
    drop(pool);
    unsigned long freed = 0;
    if (nvm_pool_release(pool, &freed) || !freed)
      return fprintf(stderr, "%lu freed: %s\n", freed, nvm_strerror()), 1;
    node *first = nvm_pool_root(pool);
    if (first->next->back)
      return fprintf(stderr, "a weak pointer to what is gone\n"), 1;
  }
  return nvm_pool_close(pool) != 0;
}
