/* prints right */
#include "checked.h"
#if V == 0
struct T {
  struct {
    signed char k;
    unsigned j : 3;
  } h;
  union {
    NVM_WHEN(h.k, -1, 2) struct T *p;
    long n;
  };
  union {
    NVM_UNLESS(h.j, 3) struct T *q;
    long m;
  };
};
void fill(NVM_POOL *P) {
  struct T *t = NEWN(struct T, 2);
  t->h.k = -1;
  t->p = t + 1;
  t->h.j = 3;
  t->m = 55;
  t[1].h.j = 2;
  t[1].q = t;
  t[1].n = (long)t;
  nvm_pool_set_root(P, t);
}
#else
struct T {
  long z;
  struct {
    int k;
    unsigned j : 3;
  } h;
  union {
    NVM_WHEN(h.k, -1, 2) struct T *p;
    long n;
  };
  union {
    NVM_UNLESS(h.j, 3) struct T *q;
    long m;
  };
};
void check(NVM_POOL *P) {
  struct T *t = nvm_pool_root(P);
  C(t->p == t + 1);
  C(t->m == 55);
  C(t[1].q == t);
}
#endif
