/* same */
#include "changed.h"
struct A {
  int id;
  int a;
};
struct B {
  int id;
  int b;
};
#if V == 0
struct D : A, B {
  int d;
};
#else
struct D : B, A {
  int d;
  int e;
};
#endif
struct root {
  D *o;
  A *a;
  B *b;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  D *d = NEW(D);
  r->o = d;
  d->A::id = 1;
  d->a = 2;
  d->B::id = 3;
  d->b = 4;
  d->d = 5;
  r->a = d;
  r->b = d;
  return r;
}
static void show(void *v) {
  root *r = (root *)v;
  printf("%d %d %d %d %d (1 2 3 4 5) a %d b %d\n", r->o->A::id, r->o->a, r->o->B::id, r->o->b,
         r->o->d, r->a == (A *)r->o, r->b == (B *)r->o);
}
