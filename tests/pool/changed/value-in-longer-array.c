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
  int x, m;
};
struct H {
  struct S a[4];
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->a[1].x == 1);
  for (int i = 0; i < 4; i++)
    C(h->a[i].m == 7);
}
#endif
