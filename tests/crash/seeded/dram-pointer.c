// A block of malloc is linked into the pool.
// RUN: %seeded %s
#include "seeded.h"

struct entry {
  char *key;
  long value;
};

int main(int argc, char **argv) {
  struct entry *e = CREATE(argv, struct entry);
  nvm_tx_begin(pool);
#ifdef BUG
  char *key = malloc(20);
#else
  char *key = nvm_alloc(pool, 0, 20);
#endif
  strcpy(key, "the key");
  e->key = key; // FOUND: unsafe pointer
  e->value = 1;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
