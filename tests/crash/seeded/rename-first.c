// A file takes its final name before the pool knows of it.
// RUN: %seeded %s
#include "seeded.h"

struct catalogue {
  long files;
};

static void make(const char *path) {
  FILE *file = fopen(path, "w");
  if (file)
    fclose(file);
}

int main(int argc, char **argv) {
  struct catalogue *c = CREATE(argv, struct catalogue);
  char made[4096], final[4096];
  snprintf(made, sizeof made, "%s.new", argv[1]);
  snprintf(final, sizeof final, "%s.final", argv[1]);
  make(made);
  nvm_tx_begin(pool);
  c->files++;
#ifdef BUG
  rename(made, final); // FOUND: output before commit
#endif
  nvm_tx_commit(pool);
  rename(made, final);
  remove(final);
  return nvm_pool_close(pool);
}
