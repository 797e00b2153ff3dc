// Where the compiler tells static data apart by numbers alone, another build counts anew: only the build that filled the
// pool knows which is meant.
// RUN: rm -rf %t && mkdir %t
// RUN: cd %t && %cc -O1 %s -o first && %cc -O1 -DMORE %s -o second
// RUN: cd %t && ./first local.pool local && ./first local.pool local && %exit 1 ./second local.pool local 2>&1 | FileCheck --check-prefix=LOCAL %s
// LOCAL: field state of struct hook points to one of several counted.number of numbered-statics.c in the program
// RUN: cd %t && ./first literal.pool literal && ./first literal.pool literal && %exit 1 ./second literal.pool literal 2>&1 | FileCheck --check-prefix=LITERAL %s
// LITERAL: field state of struct hook points to nameless data of another build of the program
// RUN: cd %t && %cc -O1 -flto -fuse-ld=lld %s -o lto.1 && %cc -O1 -flto -fuse-ld=lld -DMORE %s -o lto.2
// RUN: cd %t && ./lto.1 lto.pool local && ./lto.1 lto.pool local && %exit 1 ./lto.2 lto.pool local 2>&1 | FileCheck --check-prefix=LOCAL %s
// One that is alone has its name.
// RUN: cd %t && ./first alone.pool alone && ./second alone.pool alone && ./first alone.pool alone
// A compound literal that nobody can write is known by its content.
// RUN: cd %t && ./first constant.pool constant && ./second constant.pool constant && ./first constant.pool constant
#include "nvmove/nvmove.h"

#include <stdio.h>
#include <string.h>

struct hook {
  NVM_STATIC_PTR(int) state;
};

#ifdef MORE
int *volatile more = (int[]){1, 1};
const int *volatile more_constants = (const int[]){1, 1, 1};
#endif
int *volatile literal = (int[]){2, 2};
int *volatile other = (int[]){3, 3};
const int *volatile constant = (const int[]){4, 4, 4};

static int *counted(int which) {
#ifdef MORE
  if (which == 5) {
    static int number = 5;
    return &number;
  }
#endif
  if (which == 6) {
    static int number = 6;
    return &number;
  }
  if (which == 8) {
    static int alone = 8;
    return &alone;
  }
  static int number = 7;
  return &number;
}

int main(int count, char **values) {
  static int *(*volatile counting)(int) = counted;
  const char *which = values[count - 1];
  int *wanted = strcmp(which, "local") == 0 ? counting(6) : strcmp(which, "alone") == 0 ? counting(8)
                : strcmp(which, "literal") == 0 ? other : (int *)constant;
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct hook *made = nvm_calloc(pool, NVM_TYPE_ID(struct hook), 1, sizeof *made);
    made->state = wanted;
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct hook *hook = nvm_pool_root(pool);
  if (hook->state != wanted)
    return fprintf(stderr, "leads to %d\n", *hook->state), 4;
  return nvm_pool_close(pool);
}
