// The program becomes another one, which goes on, while its transaction is undone.
// RUN: %seeded %s
// ALSO: transaction left open
#include "seeded.h"

#include <unistd.h>

struct counter {
  long value;
};

int main(int argc, char **argv) {
  struct counter *c = CREATE(argv, struct counter);
  nvm_tx_begin(pool);
  c->value++;
  execl("/nowhere/program", "program", (char *)NULL);
#ifdef BUG
  execl("/bin/true", "true", (char *)NULL); // FOUND: output before commit
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
