// A pool that moves to other addresses, and whose garbage is collected, survives every crash: pointers
// that were carried over are the program's data as they were.
// RUN: %cc %s -O1 -o %t && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash --epoch-states 64 --samples 32 -- %t %pool 3 2>&1 | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash --epoch-states 64 --samples 32 -- %t %pool 3 2>&1 | FileCheck %s
// CHECK: no finding: each failure point was explored, but not every state of it
#include "nvmove/inspect.h"
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef NVM_STRUCT node {
  struct node *next;
  long value;
  struct node *other;
} node;

enum { NODES = 12 };

static void add(NVM_POOL *pool, long value) {
  nvm_tx_begin(pool);
  node *made = nvm_calloc(pool, NVM_TYPE_ID(node), 1, sizeof *made);
  made->next = nvm_pool_root(pool);
  made->other = value % 3 ? made : made->next;
  made->value = value;
  nvm_pool_set_root(pool, made);
  nvm_tx_commit(pool);
}

/* Drops every second node, which nobody frees. */
static void drop(NVM_POOL *pool) {
  nvm_tx_begin(pool);
  for (node *at = nvm_pool_root(pool); at && at->next; at = at->next) {
    at->next = at->next->next;
    at->other = at;
  }
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  int rounds = argc > 2 ? atoi(argv[2]) : 1;
  long value = 0;
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < NODES; i++)
      add(pool, value++);
    drop(pool);
    if (nvm_pool_collect(pool, NULL) || nvm_pool_close(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 1;
    size_t base = NVM_RANGE_BASE + ((size_t)(3 + round % 50 * 5) << 30);
    if (!(pool = nvm_pool_open_at(argv[1], (void *)base)))
      return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  }
  return nvm_pool_close(pool) != 0;
}
