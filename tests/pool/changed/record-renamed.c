/* same */
#include "changed.h"
struct in {
  int a, b;
};
#if V == 0
struct out {
  long z;
  struct in m;
};
#else
struct out {
  long z;
  struct in x;
};
#endif
#if V == 0
#define X m
#else
#define X x
#endif
struct root {
  struct out *o;
  struct in *p;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->o = NEW(struct out);
  r->o->X.a = 5;
  r->p = &r->o->X;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("same %d a %d (5)\n", r->p == &r->o->X, r->p->a);
}
