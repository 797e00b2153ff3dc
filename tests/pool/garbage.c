// A collection that is killed leaves garbage that leads to free blocks. That is no damage; a pointer of the same kind
// in a block that the root leads to is.
// RUN: %cc %s -o %t && rm -f %pool && %t %pool && %nvmove pool check %pool
// RUN: %exit -9 env NVMOVE_KILL_AT=commit:2 %nvmove pool gc %pool
// RUN: %nvmove pool check %pool | FileCheck --check-prefix=GARBAGE %s
// GARBAGE-NOT: field
// GARBAGE: wrong pointers in blocks that the root does not lead to: {{[1-9][0-9]*}}. These are no faults; 'nvmove pool gc' frees the blocks
// GARBAGE-NEXT: no faults
// RUN: %nvmove pool check --format=json %pool | FileCheck --check-prefix=JSON %s
// JSON: "faults": []
// JSON: "in_garbage": {{[1-9]}}
// RUN: %nvmove pool repair %pool && rm -f %pool.new
// RUN: %exit 2 %nvmove pool convert %pool %pool.new 2>&1 | FileCheck --check-prefix=CONVERT %s
// CONVERT: leads to nothing. On a copy: 'nvmove pool gc' frees the block that has it if the root does not lead there
// RUN: cp %pool %pool.bad && %t %pool.bad bad
// RUN: %exit 1 %nvmove pool check %pool.bad | FileCheck --check-prefix=BAD %s
// BAD: field next of struct node at 0x{{.*}} leads to 0x{{.*}}, where nothing is allocated
// BAD-NOT: field
// BAD: wrong pointers in blocks that the root does not lead to
// BAD-NEXT: 1 fault
// RUN: %exit 1 %nvmove pool repair %pool.bad | FileCheck --check-prefix=LEFT %s
// LEFT: not mended: field next of struct node
// LEFT-NEXT: still wrong: field next of struct node
// LEFT-NOT: field
// RUN: %nvmove pool repair --null-dangling %pool.bad && %nvmove pool check %pool.bad | FileCheck --check-prefix=NULL %s
// NULL-NOT: blocks that the root does not lead to
// NULL: no faults
// RUN: %nvmove pool gc %pool && %nvmove pool check %pool | FileCheck --check-prefix=NULL %s
// RUN: %nvmove pool convert %pool %pool.new
#include "nvmove/nvmove.h"

#include <string.h>

enum { NODES = 3000 };
struct node {
  struct node *next;
  long number;
};

int main(int argc, char **argv) {
  NVM_POOL *pool = argc > 2 ? nvm_pool_open(argv[1]) : nvm_pool_create(argv[1], 4 << 20);
  if (!pool || nvm_tx_begin(pool))
    return 1;
  if (argc > 2) {
    struct node *root = nvm_pool_root(pool),
                *freed = nvm_alloc(pool, NVM_TYPE_ID(struct node), sizeof *freed);
    root->next = freed;
    return nvm_tx_commit(pool) || nvm_free(freed) || nvm_pool_close(pool);
  }
  struct node *node = NULL;
  for (long i = 0; i < NODES; i++) { // each leads to the one that is freed before it
    struct node *made = nvm_alloc(pool, NVM_TYPE_ID(struct node), sizeof *made);
    made->next = i < NODES - 1 ? node : NULL;
    made->number = i;
    node = made;
  }
  return nvm_pool_set_root(pool, node) || nvm_tx_commit(pool) || nvm_pool_close(pool);
}
