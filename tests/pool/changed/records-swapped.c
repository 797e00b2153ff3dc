/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int x;
};
struct H {
  struct S a;
  struct S b;
  struct S *p;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->a.x = 1;
  h->b.x = 2;
  h->p = &h->a;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  long y;
};
struct H {
  struct S a;
  struct S b;
  struct S *p;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->b.y == 1);
  C(h->a.y == 2);
  C(h->p == &h->b);
}
#endif
