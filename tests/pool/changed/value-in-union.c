/* refused field u.b shares bytes with u.a, a value cannot be given to it */
#include "changed.h"
#if V == 0
struct box {
  int z;
  union {
    int a;
  } u;
};
#else
struct box {
  int z;
  union {
    int a;
    int b;
  } u;
};
#endif
struct root {
  struct box *b;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct box);
  r->b->u.a = 99;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("a %d\n", r->b->u.a);
}
