/* prints right */
#include "checked.h"
#if V == 0
struct A {
  int x;
};
struct M : A {
  int q;
};
struct H {
  M m;
  A *a;
  M *p;
};
void fill(NVM_POOL *P) {
  H *h = NEW(H);
  h->m.x = 1;
  h->m.q = 2;
  h->a = &h->m;
  h->p = &h->m;
  nvm_pool_set_root(P, h);
}
#else
struct A {
  int x;
};
struct M : A {
  int q;
};
struct H {
  long z;
  M n;
  A *a;
  M *p;
};
void check(NVM_POOL *P) {
  H *h = (H *)nvm_pool_root(P);
  C(h->n.x == 1);
  C(h->n.q == 2);
  C(h->a == &h->n);
  C(h->p == &h->n);
}
#endif
