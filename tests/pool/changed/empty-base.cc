/* prints right */
#include "checked.h"
#if V == 0
struct E {};
struct A {
  int x;
};
struct D : A {
  int x;
};
struct H {
  D *d;
};
void fill(NVM_POOL *P) {
  H *h = NEW(H);
  h->d = NEW(D);
  h->d->A::x = 1;
  h->d->x = 2;
  nvm_pool_set_root(P, h);
}
#else
struct E {};
struct A {
  int x;
};
struct D : E, A {
  int x;
  long z;
};
struct H {
  D *d;
};
void check(NVM_POOL *P) {
  H *h = (H *)nvm_pool_root(P);
  C(h->d->A::x == 1);
  C(h->d->x == 2);
}
#endif
