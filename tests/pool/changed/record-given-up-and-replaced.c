/* refused field p of struct H */
#include "checked.h"
#if V == 0
struct S {
  int x;
};
struct H {
  struct S a, b;
  struct S *p, *q;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->a.x = 1;
  h->b.x = 2;
  h->p = &h->a;
  h->q = &h->b;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int x;
};
struct H {
  struct S *p, *q;
  struct S a;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->a.x == 2);
  C(h->q == &h->a);
  C(h->p != &h->a);
}
#endif
