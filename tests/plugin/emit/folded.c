// Functions that lie at one address: which of them a pointer means nothing says. Another build has to have all of them
// together again, as the aliases of a library, or refuses the pool.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %cc -O1 %s -o alias && %cc -O1 -DMORE %s -o aliases && %cc -O1 -DAPART %s -o apart && %cc -O1 -DALONE %s -o alone
// RUN: ./alias pool && ./alias pool && ./aliases pool && ./alias pool && %exit 1 ./apart pool 2>&1 | FileCheck %s
// RUN: %exit 1 ./alone pool 2>&1 | FileCheck %s && ./alias pool
// CHECK: field close of struct hooks points to one of several on_{{open|close}} in the program, which nothing tells apart
// What is apart, and comes together.
// RUN: ./apart apart.pool && ./alias apart.pool && ./apart apart.pool
// Identical code folding.
// RUN: %cc -O1 -DSAME -ffunction-sections -fuse-ld=lld -Wl,--icf=all %s -o folded && ./folded folded.pool
// RUN: ./folded folded.pool && %exit 1 ./apart folded.pool 2>&1 | FileCheck %s
// Aliases of the C library.
// RUN: ./alias c.pool library && ./apart c.pool library && ./alias c.pool library
#include "nvmove/nvmove.h"

#include <signal.h>
#include <stdio.h>

struct hooks {
  int (*close)(int);
};

#ifdef MORE
int more(int a) { return a < 2 ? 1 : more(a - 1) * more(a - 2); }
#endif
#define FUNCTION __attribute__((noinline)) int
FUNCTION on_open(int a) { return a + 1; }
#if defined(APART)
FUNCTION on_close(int a) { return a + 2; }
#elif defined(SAME)
FUNCTION on_close(int a) { return a + 1; }
#elif defined(ALONE)
#define on_close on_open
#else
int on_close(int a) __attribute__((weak, alias("on_open")));
#endif

int main(int count, char **values) {
  static int (*volatile close)(int) = on_close;
  int (*wanted)(int) = count == 3 ? raise : close; /* gsignal, too */
  NVM_POOL *pool = nvm_pool_open(values[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(values[1], 1 << 20);
    nvm_tx_begin(pool);
    struct hooks *made = nvm_calloc(pool, NVM_TYPE_ID(struct hooks), 1, sizeof *made);
    made->close = wanted;
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  const struct hooks *hooks = nvm_pool_root(pool);
  if (hooks->close != wanted)
    return fprintf(stderr, "leads elsewhere\n"), 4;
  return nvm_pool_close(pool);
}
