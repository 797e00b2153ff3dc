/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int x;
};
struct H {
  struct S a[2];
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->a[1].x = 1;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int y;
};
struct H {
  struct S b[2];
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->b[1].y == 1);
}
#endif
