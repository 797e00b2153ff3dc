// The address of a local variable stays in the pool.
// RUN: %seeded %s
#include "seeded.h"

struct cursor {
  long *at;
  long place;
};

int main(int argc, char **argv) {
  struct cursor *c = CREATE(argv, struct cursor);
  long local = 3;
  nvm_tx_begin(pool);
#ifdef BUG
  c->at = &local; // FOUND: unsafe pointer
#else
  c->at = &c->place;
#endif
  c->place = *c->at + local;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
