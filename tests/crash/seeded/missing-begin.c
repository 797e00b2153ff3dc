// One of two stores that belong together stands before the transaction.
// RUN: %seeded %s
#include "seeded.h"

struct account {
  long balance, moves;
};

int main(int argc, char **argv) {
  struct account *a = CREATE(argv, struct account);
  for (long i = 0; i < 3; i++) {
#ifdef BUG
    a->balance += i; // FOUND: write outside a transaction
    nvm_tx_begin(pool);
#else
    nvm_tx_begin(pool);
    a->balance += i;
#endif
    a->moves++;
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
