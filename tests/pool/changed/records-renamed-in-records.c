/* prints right */
#include "checked.h"
#if V == 0
struct B {
  int x;
};
struct A {
  struct B b;
};
struct H {
  struct A a;
  int k;
  struct A *p;
  struct B *q;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->a.b.x = 5;
  h->p = &h->a;
  h->q = &h->a.b;
  nvm_pool_set_root(P, h);
}
#else
struct B {
  int x;
};
struct A {
  struct B bb;
};
struct H {
  int k;
  struct A aa;
  struct A *p;
  struct B *q;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->aa.bb.x == 5);
  C(h->p == &h->aa);
  C(h->q == &h->aa.bb);
}
#endif
