// An atomic read-modify-write is not logged, since nobody says which lock protects it.
// RUN: %seeded %s
#include "seeded.h"

struct counters {
  long hits, bytes;
};

int main(int argc, char **argv) {
  struct counters *c = CREATE(argv, struct counters);
  for (int i = 1; i < 4; i++) {
    nvm_tx_begin(pool);
#ifdef BUG
    __atomic_fetch_add(&c->hits, 1, __ATOMIC_SEQ_CST); // FOUND: unlogged store
#else
    c->hits++;
#endif
    c->bytes += 100;
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
