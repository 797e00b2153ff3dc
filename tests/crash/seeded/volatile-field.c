// A field that matters is declared as one that does not.
// ALSO: checker
// RUN: %seeded %s
#include "seeded.h"

struct ring {
  long items[4];
#ifdef BUG
  NVM_VOLATILE long tail;
#else
  long tail;
#endif
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct {
    long items[4], tail;
  } *r = nvm_pool_root(pool);
  long filled = 0;
  for (int i = 0; r && i < 4; i++)
    filled += r->items[i] != 0;
  return r && filled != r->tail;
}
#else
int main(int argc, char **argv) {
  struct ring *r = CREATE(argv, struct ring);
  for (long i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    r->items[r->tail] = i + 1;
    r->tail++;
    nvm_tx_commit(pool); // FOUND: checker
  }
  return nvm_pool_close(pool);
}
#endif
