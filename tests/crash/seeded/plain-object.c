// A file of the program was compiled by another compiler.
// RUN: %seeded %s
#include "seeded.h"

struct item {
  char name[100];
  long flags;
};

void set_name(struct item *i, const char *name);

#ifdef ELSEWHERE
void set_name(struct item *i, const char *name) { memcpy(i->name, name, sizeof i->name); }
#else
int main(int argc, char **argv) {
  static const char name[100] = "some name";
  struct item *i = CREATE(argv, struct item);
  nvm_tx_begin(pool);
  i->flags = 1;
#ifdef BUG
  set_name(i, name); // FOUND: unseen store
#else
  memcpy(i->name, name, sizeof i->name);
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
#endif
