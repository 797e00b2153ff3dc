/* prints right */
#include "checked.h"
#if V == 0
struct E {
  int k;
  union {
    NVM_WHEN(k, 1) struct E *p;
    long n;
  };
};
struct H {
  struct E a[2];
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->a[1].k = 1;
  h->a[1].p = &h->a[0];
  h->a[0].n = 77;
  nvm_pool_set_root(P, h);
}
#else
struct E {
  int k;
  union {
    NVM_WHEN(k, 1) struct E *p;
    long n;
  };
};
struct H {
  long z;
  struct E b[2];
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->b[1].p == &h->b[0]);
  C(h->b[0].n == 77);
}
#endif
