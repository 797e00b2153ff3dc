/* prints right */
#include "checked.h"
#if V == 0
struct O {
  double d, e;
};
struct H {
  int n;
  int a[3];
};
struct R {
  struct H *h;
  struct O *o;
  int *end;
  struct O *q;
};
void fill(NVM_POOL *P) {
  struct R *r = NEW(struct R);
  r->h = NEW(struct H);
  for (int i = 0; i < 300; i++) {
    r->o = NEW(struct O);
    if ((char *)r->o == (char *)(r->h + 1))
      goto ok;
    r->h = NEW(struct H);
    if (i == 299)
      abort();
  }
ok:
  r->end = r->h->a + 3;
  nvm_pool_set_root(P, r);
}
#else
struct O {
  double d, e;
};
struct H {
  long z;
  int n;
  int a[3];
};
struct R {
  struct H *h;
  struct O *o;
  int *end;
  struct O *q;
};
void check(NVM_POOL *P) {
  struct R *r = nvm_pool_root(P);
  C(r->end == r->h->a + 3);
}
#endif
