// A value is a number or a text; a text of strdup is kept in the pool.
// RUN: %seeded %s
#include "seeded.h"

struct value {
  int is_text;
  union {
    long number;
    char *text;
  } is;
};
struct arena {
  long used;
  struct value value[8];
};

static struct value *add(struct arena *a, int is_text) {
  struct value *v = &a->value[a->used++];
  v->is_text = is_text;
  return v;
}

int main(int argc, char **argv) {
  struct arena *a = CREATE(argv, struct arena);
  nvm_tx_begin(pool);
  add(a, 0)->is.number = 5;
#ifdef BUG
  add(a, 1)->is.text = strdup("five"); // FOUND: pointer to volatile memory
#else
  char *text = nvm_alloc(pool, 0, 5);
  add(a, 1)->is.text = strcpy(text, "five");
#endif
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
