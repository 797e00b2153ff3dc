/* refused leads to where several things begin or end that lie apart now */
#include "changed.h"
#if V == 0
struct A {
  int a;
  int b;
};
#else
struct A {
  long h;
  int b;
  int a;
};
#endif
struct root {
  struct A *a;
  char *raw;
  unsigned char *u;
  int *ip;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->a = NEW(struct A);
  r->raw = (char *)r->a;
  r->u = (void *)r->a;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("raw-a %ld u-a %ld\n", r->raw - (char *)r->a, (char *)r->u - (char *)r->a);
}
