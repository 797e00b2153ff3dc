/* refused field n leads to struct A in the pool's, to struct B in the program's */
#include "changed.h"
struct A {
  int v;
};
struct B {
  long q;
  int v;
};
#if V == 0
struct box {
  struct A *n;
};
#else
struct box {
  struct B *n;
};
#endif
struct root {
  struct box *b;
  struct B *l;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct box);
  r->l = NEW(struct B);
  r->b->n = (void *)NEW(struct A);
  ((struct A *)r->b->n)->v = 5;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("%d (5)\n", r->b->n->v);
}
