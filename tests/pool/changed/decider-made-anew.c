/* refused field u.n is a pointer under another condition */
#include "changed.h"
struct node {
  int v;
};
#if V == 0
struct box {
  long kind;
  union {
    NVM_WHEN(kind, 1) struct node *n;
    long num;
  } u;
};
#else
struct box {
  long kind;
  long e;
  union {
    NVM_WHEN(kind, 1) struct node *n;
    long num;
  } u;
};
#endif
struct root {
  struct box *b;
  struct node *l;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct box);
  r->b->kind = 1;
  r->l = NEW(struct node);
  r->b->u.n = r->l;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("same %d\n", r->b->u.n == r->l);
}
