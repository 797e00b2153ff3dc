/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int k;
  union {
    NVM_WHEN(k, 1) struct H *p;
    long v;
  };
};
struct H {
  long n;
  struct S t[];
};
void fill(NVM_POOL *P) {
  struct H *h = nvm_calloc(P, NVM_TYPE_ID(struct H), 1, sizeof(struct H) + 2 * sizeof(struct S));
  h->n = 2;
  h->t[0].k = 1;
  h->t[0].p = h;
  h->t[1].v = 5;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int k;
  union {
    NVM_WHEN(k, 1) struct H *p;
    long v;
  };
};
struct H {
  int z;
  long n;
  struct S t[];
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->n == 2);
  C(h->t[0].p == h);
  C(h->t[1].v == 5);
}
#endif
