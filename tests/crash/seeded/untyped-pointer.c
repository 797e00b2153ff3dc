// A pointer to memory of malloc is committed in a block of no type.
// RUN: %seeded %s
#include "seeded.h"

struct session {
  char *name, *scratch;
};

int main(int argc, char **argv) {
  struct session *s = create(argv[1], 0, sizeof *s);
  nvm_tx_begin(pool);
  s->scratch = malloc(10); // gone before the commit
#ifdef BUG
  s->name = strdup("somebody"); // FOUND: pointer to volatile memory
#else
  s->name = nvm_alloc(pool, 0, 20);
  strcpy(s->name, "somebody");
#endif
  s->scratch = NULL;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
