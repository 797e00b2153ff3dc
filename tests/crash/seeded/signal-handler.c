// A signal handler stores; it has to come inside a transaction.
// RUN: %seeded %s
#include "seeded.h"

#include <signal.h>

static struct state {
  long signals, turns;
} *state;

static void handle(int number) {
  state->signals++; // FOUND: write outside a transaction
}

int main(int argc, char **argv) {
  state = CREATE(argv, struct state);
  signal(SIGUSR1, handle);
  for (int i = 0; i < 3; i++) {
    nvm_tx_begin(pool);
    state->turns++;
#ifndef BUG
    raise(SIGUSR1);
#endif
    nvm_tx_commit(pool);
#ifdef BUG
    raise(SIGUSR1);
#endif
  }
  return nvm_pool_close(pool);
}
