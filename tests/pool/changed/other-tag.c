/* refused field n is a pointer with other bits that are no part of the address */
#include "changed.h"
struct node {
  int v;
};
#if V == 0
struct box {
  NVM_TAGGED_PTR(struct node *, 0xffff000000000000) n;
};
#else
struct box {
  struct node *n;
  int z;
};
#endif
struct root {
  struct box *b;
  struct node *l;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct box);
  r->l = NEW(struct node);
  r->b->n = (void *)((uint64_t)r->l | ((uint64_t)5 << 48));
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("same %d\n", ((uint64_t)r->b->n & 0xffffffffffff) == (uint64_t)r->l);
}
