/* refused field v is a pointer in the pool's, or marked as one */
#include "changed.h"
struct node {
  int v;
};
#if V == 0
struct box {
  int n;
  NVM_PTR_OR_NUMBER uint64_t v[];
};
#else
struct box {
  int n;
  int m;
  long q;
  uint64_t v[];
};
#endif
struct root {
  struct box *b;
  struct node *l;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = nvm_calloc(pool, NVM_TYPE_ID(struct box), 1, sizeof(struct box) + 24);
  r->b->n = 3;
  r->l = NEW(struct node);
  r->b->v[1] = (uint64_t)r->l;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("same %d\n", r->b->v[1] == (uint64_t)r->l);
}
