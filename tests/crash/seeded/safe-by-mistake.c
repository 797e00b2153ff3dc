// A pre-compiled function is described as one that writes nothing.
// RUN: rm -rf %t && mkdir %t && echo 'fill={nargs:2,wr_set:{}}' > %t/safe.unsafe
// RUN: %seeded %s -- --nvmove-unsafe=%t/safe.unsafe
#include "seeded.h"

struct block {
  char bytes[32];
  long kind;
};

void fill(char *bytes, int with);

#ifdef ELSEWHERE
void fill(char *bytes, int with) { memset(bytes, with, 32); }
#else
int main(int argc, char **argv) {
  struct block *b = CREATE(argv, struct block);
  nvm_tx_begin(pool);
  b->kind = 7;
#ifdef BUG
  fill(b->bytes, 7); // FOUND: unseen store
#else
  memset(b->bytes, 7, 32);
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
#endif
