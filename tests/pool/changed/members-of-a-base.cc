/* same */
#include "changed.h"
#if V == 0
struct A {
  int a;
  int b;
};
#else
struct A {
  int b;
  int a;
};
#endif
struct D : A {
  int d;
};
struct root {
  D *o;
  A *a;
  D *arr;
  A *q;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  D *d = NEW(D);
  r->o = d;
  d->a = 2;
  d->b = 4;
  d->d = 5;
  r->a = d;
  r->arr = NEWS(D, 4);
  r->q = &r->arr[2];
  r->q->a = 7;
  return r;
}
static void show(void *v) {
  root *r = (root *)v;
  printf("%d %d %d (2 4 5) a %d a->a %d q %d\n", r->o->a, r->o->b, r->o->d, r->a == (A *)r->o,
         r->a->a, r->q == &r->arr[2]);
}
