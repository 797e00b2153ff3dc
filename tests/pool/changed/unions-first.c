/* same */
#include "changed.h"
union U {
  int i;
  float f;
};
#if V == 0
struct A {
  union U u;
  int k;
};
struct B {
  struct A a[3];
};
struct C {
  union U u[4];
  int x;
};
#else
struct A {
  int k;
  union U u;
};
struct B {
  int q;
  struct A a[4];
};
struct C {
  int x;
  union U u[5];
};
#endif
struct root {
  struct A *a;
  struct B *b;
  struct C *c;
  union U *pu[5];
  int *pi;
  float *pf;
  struct A *pa;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->a = NEW(struct A);
  r->b = NEW(struct B);
  r->c = NEW(struct C);
  r->pu[0] = &r->a->u;
  r->pu[1] = &r->b->a[0].u;
  r->pu[2] = &r->b->a[2].u;
  r->pu[3] = &r->c->u[0];
  r->pu[4] = &r->c->u[3];
  r->pi = &r->b->a[1].u.i;
  r->pf = &r->c->u[2].f;
  r->pa = &r->b->a[0];
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("%d %d %d %d %d; %d %d %d\n", r->pu[0] == &r->a->u, r->pu[1] == &r->b->a[0].u,
         r->pu[2] == &r->b->a[2].u, r->pu[3] == &r->c->u[0], r->pu[4] == &r->c->u[3],
         r->pi == &r->b->a[1].u.i, r->pf == &r->c->u[2].f, r->pa == &r->b->a[0]);
}
