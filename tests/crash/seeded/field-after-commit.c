// The commit comes before the last field.
// RUN: %seeded %s
#include "seeded.h"

struct letter {
  char text[40];
  long length;
};

int main(int argc, char **argv) {
  struct letter *l = CREATE(argv, struct letter);
  nvm_tx_begin(pool);
  strcpy(l->text, "dear reader");
#ifdef BUG
  nvm_tx_commit(pool);
  l->length = 11; // FOUND: write outside a transaction
#else
  l->length = 11;
  nvm_tx_commit(pool);
#endif
  return nvm_pool_close(pool);
}
