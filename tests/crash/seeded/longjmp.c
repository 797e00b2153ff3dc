// An error leaves the transaction by longjmp, and nobody ends it: what follows is inside it.
// RUN: %seeded %s
#include "seeded.h"

#include <setjmp.h>

static jmp_buf failed;
struct pair {
  long a, b;
};

static void set(struct pair *p, long value) {
  nvm_tx_begin(pool); // FOUND: transaction left open
  p->a = value;
  if (value == 2)
    longjmp(failed, 1);
  p->b = value;
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  struct pair *p = CREATE(argv, struct pair);
  for (volatile long i = 0; i < 4; i++)
    if (setjmp(failed) == 0)
      set(p, i);
#ifndef BUG
    else
      nvm_tx_abort(pool);
#endif
  return nvm_pool_close(pool);
}
