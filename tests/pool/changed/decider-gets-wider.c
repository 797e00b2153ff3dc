/* refused field u.n is a pointer under another condition */
#include "changed.h"
struct node {
  int v;
};
#define KX 0xF0
#if V == 0
struct box {
  char kind;
  union {
    NVM_WHEN(kind, KX) struct node *n;
    long num;
  } u;
};
#else
struct box {
  int kind;
  union {
    NVM_WHEN(kind, KX) struct node *n;
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
  r->b->kind = (char)KX;
  r->l = NEW(struct node);
  r->b->u.n = r->l;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("same %d kind %d\n", r->b->u.n == r->l, r->b->kind);
}
