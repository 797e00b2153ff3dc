/* refused leads to a block of struct U, which stays as it is, and struct S has changed */
#include "checked.h"
#if V == 0
struct S {
  int x, y;
};
struct U {
  long l;
  struct S s;
};
struct H {
  struct S *p;
  struct S *own;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  struct U *u = NEW(struct U);
  u->s.x = 1;
  u->s.y = 2;
  h->p = &u->s;
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
