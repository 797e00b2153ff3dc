/* refused leads to a block without type, and struct item has changed */
#include "changed.h"
#if V == 0
struct item {
  int a;
  int b;
};
#else
struct item {
  int b;
  int a;
  int mode;
};
#endif
struct root {
  struct item *i;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->i = nvm_calloc(pool, 0, 1, sizeof(struct item));
  r->i->a = 1;
  r->i->b = 2;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("a %d b %d\n", r->i->a, r->i->b);
}
