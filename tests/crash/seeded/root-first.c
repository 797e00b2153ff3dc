// The root points at an object that the next transaction fills.
// RUN: %seeded %s
#include "seeded.h"

struct config {
  long magic, version;
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct config *c = nvm_pool_root(pool);
  return c && c->magic != 0x600d;
}
#else
int main(int argc, char **argv) {
  pool = nvm_pool_create(argv[1], 1 << 20);
  nvm_tx_begin(pool);
  struct config *c = nvm_calloc(pool, NVM_TYPE_ID(struct config), 1, sizeof *c);
  nvm_pool_set_root(pool, c);
#ifdef BUG
  nvm_tx_commit(pool); // FOUND: checker
  nvm_tx_begin(pool);
#endif
  c->magic = 0x600d;
  c->version = 1;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
#endif
