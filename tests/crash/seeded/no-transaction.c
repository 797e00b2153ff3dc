// A program with a pool and no transaction.
// RUN: %seeded %s
#include "seeded.h"

struct point {
  long x, y;
};

int main(int argc, char **argv) {
  struct point *p = CREATE(argv, struct point);
  for (long i = 0; i < 3; i++) {
#ifndef BUG
    nvm_tx_begin(pool);
#endif
    p->x = i; // FOUND: write outside a transaction
    p->y = -i; // FOUND: write outside a transaction
#ifndef BUG
    nvm_tx_commit(pool);
#endif
  }
  return nvm_pool_close(pool);
}
