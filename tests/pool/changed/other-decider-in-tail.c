/* refused field t[].p is a pointer under another condition */
#include "checked.h"
#if V == 0
struct S {
  int k, j;
  union {
    NVM_WHEN(k, 1) struct H *p;
    long v;
  };
};
struct H {
  long n;
  struct S t[];
};
struct Z {
  long a[40];
  struct Z *z;
};
void fill(NVM_POOL *P) {
  void *zz = nvm_calloc(P, NVM_TYPE_ID(struct Z), 1, sizeof(struct Z));
  struct H *h = nvm_calloc(P, NVM_TYPE_ID(struct H), 1, sizeof(struct H) + 2 * sizeof(struct S));
  h->n = 2;
  h->t[0].k = 1;
  h->t[0].p = h;
  h->t[1].v = (long)h;
  h->t[1].j = 1;
  nvm_pool_set_root(P, h);
  printf("base %p\n", h);
}
#else
struct S {
  int j, k;
  union {
    NVM_WHEN(j, 1) struct H *p;
    long v;
  };
};
struct H {
  long n, m;
  struct S t[];
};
struct Z {
  long a[40];
  struct Z *z;
};
struct Z *kz;
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->n == 2);
  C(h->t[0].k == 1);
  C(h->t[0].p == h);
  C(h->t[1].j == 1);
  C(h->t[1].v == (long)h);
}
#endif
