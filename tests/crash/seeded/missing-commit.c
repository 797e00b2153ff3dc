// One way out of a function forgets the commit.
// RUN: %seeded %s
#include "seeded.h"

struct table {
  long used, values[4];
};

static bool put(struct table *t, long value) {
  nvm_tx_begin(pool); // FOUND: transaction left open
  t->values[t->used % 4] = value;
#ifdef BUG
  if (value == 9)
    return false;
#endif
  t->used++;
  nvm_tx_commit(pool);
  return true;
}

int main(int argc, char **argv) {
  struct table *t = CREATE(argv, struct table);
  for (long i = 7; i < 12; i++)
    put(t, i);
  return nvm_pool_close(pool);
}
