/* A record that gets two numbers. */
#include "changed.h"
#if V == 0
struct A {
  int a;
};
#else
struct A {
  int a;
  int m;
  int n;
};
#endif
struct root {
  struct A *a;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->a = NEW(struct A);
  r->a->a = 1;
  return r;
}
static void show(void *v) {
  struct root *r = v;
#if V
  printf("%d m %d n %d\n", r->a->a, r->a->m, r->a->n);
#endif
}
