/* refused does not begin like a struct X any more */
#include "checked.h"
#if V == 0
struct X {
  int a;
  int b;
};
struct Y {
  int a;
  int b;
  long c;
};
struct R {
  struct X *x;
  struct Y *y;
};
void fill(NVM_POOL *P) {
  struct R *r = NEW(struct R);
  r->y = NEW(struct Y);
  r->y->a = 1;
  r->y->b = 2;
  r->x = (struct X *)r->y;
  nvm_pool_set_root(P, r);
}
#else
struct X {
  int a;
  int b;
};
struct Y {
  long c;
  int a;
  int b;
};
struct R {
  struct X *x;
  struct Y *y;
};
void check(NVM_POOL *P) {
  struct R *r = nvm_pool_root(P);
  C(r->x->a == 1);
  C(r->x->b == 2);
}
#endif
