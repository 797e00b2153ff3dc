// A pointer that was taken before realloc is used after it.
// RUN: %seeded %s
#include "seeded.h"

struct vector {
  long *items, count;
};

int main(int argc, char **argv) {
  struct vector *v = CREATE(argv, struct vector);
  nvm_tx_begin(pool);
  v->items = nvm_calloc(pool, 0, 4, sizeof *v->items);
  v->count = 4;
  nvm_tx_commit(pool);
  nvm_tx_begin(pool);
  long *first = v->items;
  v->items = nvm_realloc(pool, v->items, 400 * sizeof *v->items);
#ifndef BUG
  first = v->items;
#endif
  first[1] = 5; // FOUND: store to a freed block
  v->count = 400;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
