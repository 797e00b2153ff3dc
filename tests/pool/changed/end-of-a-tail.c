/* prints right */
#include "checked.h"
#if V == 0
struct O {
  double d[4];
};
struct T {
  long n;
  int t[];
};
struct R {
  struct T *t;
  struct O *o;
  int *e;
};
void fill(NVM_POOL *P) {
  struct R *r = NEW(struct R);
  for (int i = 0; i < 300; i++) {
    r->t = nvm_calloc(P, NVM_TYPE_ID(struct T), 1, 32);
    r->o = NEW(struct O);
    if ((char *)r->o == (char *)r->t + 32)
      break;
    if (i == 299)
      abort();
  }
  r->e = r->t->t + 6;
  nvm_pool_set_root(P, r);
}
#else
struct O {
  double d[4];
};
struct T {
  long n, m;
  int t[];
};
struct R {
  struct T *t;
  struct O *o;
  int *e;
};
void check(NVM_POOL *P) {
  struct R *r = nvm_pool_root(P);
  C(r->e == r->t->t + 6);
}
#endif
