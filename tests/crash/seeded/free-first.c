// A block is freed in one transaction and unlinked in the next.
// RUN: %seeded %s
#include "seeded.h"

struct box {
  char *text;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct box *b = nvm_pool_root(pool);
  return b && b->text && nvm_free(b->text) != 0; // of a copy
}
#else
int main(int argc, char **argv) {
  struct box *b = CREATE(argv, struct box);
  nvm_tx_begin(pool);
  b->text = nvm_alloc(pool, 0, 100);
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  nvm_free(b->text); // FOUND: dangling pointer
#ifdef BUG
  nvm_tx_commit(pool); // FOUND: checker
  nvm_tx_begin(pool);
#endif
  b->text = NULL;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
#endif
