/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int x;
};
struct H {
  struct S a;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->a.x = 1;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int y;
};
struct H {
  struct S a;
  struct S b;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->a.y == 1);
  C(h->b.y == 0);
}
#endif
