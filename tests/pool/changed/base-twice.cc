/* prints right */
#include "checked.h"
#if V == 0
struct A {
  long a;
};
struct B1 : A {};
struct B2 : A {};
struct D : B1, B2 {
  int z;
};
struct H {
  D *d;
  A *p, *q;
};
void fill(NVM_POOL *P) {
  H *h = NEW(H);
  h->d = NEW(D);
  h->d->B1::a = 1;
  h->d->B2::a = 2;
  h->d->z = 3;
  h->p = (B1 *)h->d;
  h->q = (B2 *)h->d;
  nvm_pool_set_root(P, h);
}
#else
struct A {
  long a;
};
struct B1 : A {};
struct B2 : A {};
struct D : B1, B2 {
  long z;
};
struct H {
  D *d;
  A *p, *q;
};
void check(NVM_POOL *P) {
  H *h = (H *)nvm_pool_root(P);
  C(h->d->B1::a == 1);
  C(h->d->B2::a == 2);
  C(h->d->z == 3);
  C(h->p == (B1 *)h->d);
  C(h->q == (B2 *)h->d);
}
#endif
