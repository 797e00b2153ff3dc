/* A record in a block, by value in another one, and in an array. */
#include "changed.h"
#if V == 0
struct item {
  int a;
  int b;
};
#else
struct item {
  int a;
  int b;
  int mode;
};
#endif
struct box {
  long n;
  struct item it;
  struct item v[2];
};
struct root {
  struct item *i;
  struct box *b;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->i = NEW(struct item);
  r->b = NEW(struct box);
  r->i->a = r->b->it.a = r->b->v[1].a = 1;
  r->i->b = r->b->it.b = r->b->v[1].b = 2;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("alone %d %d, in box %d %d, in array %d %d", r->i->a, r->i->b, r->b->it.a, r->b->it.b,
         r->b->v[1].a, r->b->v[1].b);
#if V
  printf("; mode %d %d %d", r->i->mode, r->b->it.mode, r->b->v[1].mode);
#endif
  puts("");
}
