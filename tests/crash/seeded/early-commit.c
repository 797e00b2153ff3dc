// A commit in the middle of an update: only who knows the program can tell.
// RUN: %seeded %s
#include "seeded.h"

struct bank {
  long left, right;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct bank *b = nvm_pool_root(pool);
  return b && b->left + b->right != 0;
}
#else
int main(int argc, char **argv) {
  struct bank *b = CREATE(argv, struct bank);
  for (long i = 1; i < 4; i++) {
    nvm_tx_begin(pool);
    b->left -= i;
#ifdef BUG
    nvm_tx_commit(pool); // FOUND: checker
    nvm_tx_begin(pool);
#endif
    b->right += i;
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
#endif
