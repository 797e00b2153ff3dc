// Inline assembler.
// RUN: %seeded %s
#include "seeded.h"

struct word {
  long value, other;
};

int main(int argc, char **argv) {
  struct word *w = CREATE(argv, struct word);
  for (int i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    w->other++;
#ifdef BUG
    __asm__ volatile("incq %0" : "+m"(w->value)); // FOUND: unseen store
#else
    w->value++;
#endif
    nvm_tx_commit(pool);
  }
  return nvm_pool_close(pool);
}
