// Mistakes of a program that stores through nvmove/wrap.h, with each method: found, each at its line.
// RUN: %cc -O1 %s -o %t
// RUN: sh %S/Inputs/each-method.sh "%crash" %t %pool right | FileCheck %s --check-prefix=RIGHT
// RIGHT-COUNT-4: nothing found with
// RUN: sh %S/Inputs/each-method.sh "%crash" %t %pool early | FileCheck %s --check-prefix=EARLY
// RUN: sh %S/Inputs/each-method.sh "%crash" %t %pool outside | FileCheck %s --check-prefix=OUTSIDE
// RUN: sh %S/Inputs/each-method.sh "%crash" %t %pool freed | FileCheck %s --check-prefix=FREED
// RUN: sh %S/Inputs/each-method.sh "%crash" %t %pool open | FileCheck %s --check-prefix=OPEN
#include "nvmove/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  uint64_t value, other;
};
static struct root {
  uint64_t a, b;
  struct node *node;
} *root;

static void add(uint64_t *to) { nvm_wrap_store64(to, nvm_wrap_load64(to) + 1); }

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_create(argv[1], 1 << 20);
  const char *how = argv[2];
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  root->node = nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof *root->node);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  struct node *node = root->node;
  nvm_wrap_open(pool);
  add(&root->a);
  if (!strcmp(how, "early")) {
    puts("done");
    fflush(stdout);
    // EARLY-COUNT-4: wrapped-bugs.c:[[#@LINE-1]]:{{.*}}output before commit
  }
  if (!strcmp(how, "open"))
    exit(0);
  // OPEN-COUNT-4: wrapped-bugs.c:[[#@LINE-9]]:{{.*}}transaction left open
  if (!strcmp(how, "freed")) {
    nvm_free(node);
    nvm_wrap_store64(&root->node, 0);
    nvm_wrap_close(pool);
    nvm_wrap_open(pool);
    nvm_wrap_store64(&node->other, 1);
    // FREED-COUNT-4: wrapped-bugs.c:[[#@LINE-1]]:{{.*}}store to a freed block
  }
  add(&root->b);
  nvm_wrap_close(pool);
  if (!strcmp(how, "outside"))
    add(&root->b); // OUTSIDE-COUNT-4: wrapped-bugs.c:23:{{.*}}write outside a transaction
  puts("done");
  return nvm_pool_close(pool) != 0;
}
