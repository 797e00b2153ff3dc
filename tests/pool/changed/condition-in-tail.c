/* refused field v[].u.n is a pointer under another condition */
#include "changed.h"
struct node {
  int v;
};
#if V == 0
struct it {
  int kind;
  union {
    NVM_WHEN(kind, 1) struct node *n;
    long num;
  } u;
};
#else
struct it {
  int kind;
  int extra;
  long more;
  union {
    NVM_WHEN(kind, 3) struct node *n;
    long num;
  } u;
};
#endif
struct box {
  int n;
  struct it v[];
};
struct root {
  struct box *b;
  struct node *l;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = nvm_calloc(pool, NVM_TYPE_ID(struct box), 1, sizeof(struct box) + 3 * sizeof(struct it));
  r->b->n = 3;
  r->l = NEW(struct node);
  r->b->v[1].kind = 1;
  r->b->v[1].u.n = r->l;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("same %d\n", r->b->v[1].u.n == r->l);
}
