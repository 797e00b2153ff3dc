/* refused field u.n is a pointer under another condition */
#include "changed.h"
struct node {
  int v;
};
struct list {
  int n;
};
#if V == 0
struct box {
  int kind;
  union {
    NVM_WHEN(kind, 1) struct node *n;
    NVM_WHEN(kind, 2) struct list *l;
    long num;
  } u;
};
#else
struct box {
  int kind;
  int extra;
  long more;
  union {
    NVM_WHEN(kind, 1) struct node *n;
    NVM_WHEN(kind, 3) struct list *l;
    long num;
  } u;
};
#endif
struct root {
  struct box *b;
  struct list *l;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct box);
  r->b->kind = 2;
  r->b->u.l = NEW(struct list);
  r->b->u.l->n = 77;
  r->l = r->b->u.l;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("kind %d same %d\n", r->b->kind, r->b->u.l == r->l);
}
