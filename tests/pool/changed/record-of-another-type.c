/* refused field p of struct H */
#include "checked.h"
#if V == 0
struct A {
  int x, y;
};
struct B {
  int y, x;
};
struct H {
  struct A m;
  struct A *p;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->m.x = 1;
  h->m.y = 2;
  h->p = &h->m;
  nvm_pool_set_root(P, h);
}
#else
struct A {
  int x, y;
};
struct B {
  int y, x;
};
struct H {
  struct B m;
  struct A *p;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->m.x == 1);
  C(h->p->x == 1);
}
#endif
