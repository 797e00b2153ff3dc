/* refused leads to a block of char, which stays as it is, and struct S has changed */
#include "checked.h"
#if V == 0
struct S {
  int x, y;
};
struct H {
  struct S *p;
  struct S *own;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->p = nvm_calloc(P, NVM_TYPE_ID(char), 1, 64);
  h->p->x = 1;
  h->p->y = 2;
  h->own = NEW(struct S);
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int y, x;
};
struct H {
  struct S *p;
  struct S *own;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->p->x == 1);
  C(h->p->y == 2);
}
#endif
