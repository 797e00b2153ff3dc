// A defect in a function that several call: the finding names the first call, and the others in notes.
// RUN: rm -rf %t && mkdir %t && %cc -O0 %s -o %t/program
// RUN: rm -f %pool && %exit 1 %crash --jobs=1 --keep %t/trace -- %t/program %pool | FileCheck %s
// RUN: %exit 1 %nvmove crash -q --seconds=0 --jobs=1 --trace %t/trace --format=json > %t/one && %exit 1 %nvmove crash -q --seconds=0 --jobs=3 --trace %t/trace --format=json > %t/three
// RUN: grep -v seconds %t/one > %t/one.rest && grep -v seconds %t/three > %t/three.rest && diff %t/one.rest %t/three.rest
#include "nvmove/nvmove.h"

struct node {
  struct node *next;
  long number;
};
struct root {
  struct node *first, *second, *third;
};
static struct root *root;
static NVM_POOL *pool;

static void drop(struct node **link) {
  nvm_tx_begin(pool);
  nvm_free(*link);
  nvm_tx_commit(pool);
}

static void store(long *number) { *number = 7; }

static void first(void) {
  drop(&root->first);
  store(&root->third->number);
}

static void second(void) { drop(&root->second); }

int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  for (int i = 0; i < 3; i++)
    (&root->first)[i] = nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof(struct node));
  nvm_tx_commit(pool);
  first();
  second();
  store(&root->third->number);
  return argc != 2 || nvm_pool_close(pool);
}
// CHECK: helper-function.c:24:{{.*}} error: write outside a transaction
// CHECK: helper-function.c:28:{{.*}} note: called from first
// CHECK: helper-function.c:41:{{.*}} note: called from main
// CHECK: helper-function.c:43:{{.*}} note: also called from main
// CHECK: helper-function.c:20:{{.*}} error: dangling pointer
// CHECK: helper-function.c:27:{{.*}} note: called from first
// CHECK: helper-function.c:31:{{.*}} note: also called from second
