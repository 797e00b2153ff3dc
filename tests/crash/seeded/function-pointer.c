// Objects of an arena know the function that ends them: in the next process it lies elsewhere.
// RUN: %seeded %s
#include "seeded.h"

struct object {
#ifdef BUG
  void (*end)(struct object *);
#else
  long end; // index into a table of functions
#endif
  long value;
};
struct arena {
  long used;
  struct object object[8];
};

static void forget(struct object *o) { o->value = 0; }

static void add(struct arena *a, long value) {
  nvm_tx_begin(pool);
  struct object *o = &a->object[a->used++];
#ifdef BUG
  o->end = forget; // FOUND: pointer to volatile memory
#else
  o->end = 1;
#endif
  o->value = value;
  nvm_tx_commit(pool);
}

int main(int argc, char **argv) {
  struct arena *a = CREATE(argv, struct arena);
  for (long i = 1; i <= 3; i++)
    add(a, i);
  nvm_tx_begin(pool);
#ifdef BUG
  a->object[0].end(&a->object[0]);
#else
  forget(&a->object[0]);
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
