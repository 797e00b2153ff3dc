// A file takes its final name before the pool knows of it.
// RUN: %seeded %s
#include "seeded.h"

struct catalogue {
  long files;
};

int main(int argc, char **argv) {
  struct catalogue *c = CREATE(argv, struct catalogue);
  nvm_tx_begin(pool);
  c->files++;
#ifdef BUG
  rename("/nowhere/new", "/nowhere/old"); // FOUND: output before commit
#endif
  nvm_tx_commit(pool);
  rename("/nowhere/new", "/nowhere/old");
  return nvm_pool_close(pool);
}
