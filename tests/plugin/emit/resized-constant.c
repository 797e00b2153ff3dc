// A pointer to the start of a table leads there in the next build, too; one into its middle only where the table has the
// size that it had: a member or an element more would make it lead to another element.
// RUN: %cc -O1 -DNUMBER=1 %s -o %t.1 && %cc -O1 -DNUMBER=2 %s -o %t.2 && %cc -O1 -DNUMBER=3 %s -o %t.3
// RUN: %cc -O2 -DNUMBER=1 %s -o %t.same
// RUN: rm -f %t.pool && %t.1 %t.pool 1 && %t.same %t.pool 1 && %t.1 %t.pool 1
// RUN: not %t.2 %t.pool 1 2>&1 | FileCheck %s
// RUN: not %t.3 %t.pool 1 2>&1 | FileCheck %s
// CHECK: field command of struct root points into table in the program, which has another size in this build
// RUN: rm -f %t.pool && %t.1 %t.pool 0 && %t.2 %t.pool 0 && %t.3 %t.pool 0 && %t.1 %t.pool 0
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <stdlib.h>

#if NUMBER == 2
struct command {
  int id, flags;
};
#else
struct command {
  int id;
};
#endif
const struct command table[] = {
#if NUMBER == 3
    {0},
#endif
    {1},
    {2},
    {3}};
struct root {
  const struct command *command;
};

int main(int argc, char **argv) {
  int element = atoi(argv[argc - 1]);
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(argv[1], 1 << 20);
    nvm_tx_begin(pool);
    struct root *made = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *made);
    made->command = &table[element];
    nvm_pool_set_root(pool, made);
    nvm_tx_commit(pool);
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct root *root = nvm_pool_root(pool);
  return root->command != &table[element] ? 2 : nvm_pool_close(pool);
}
