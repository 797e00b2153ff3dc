/* prints right */
#include "checked.h"
#if V == 0
struct H {
  int a[4];
  double d;
  int *e;
  int *f;
  char c[3];
  short s;
  char *ce;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->ce = h->c + 3;
  nvm_pool_set_root(P, h);
}
#else
struct H {
  long z;
  int a[4];
  double d;
  int *e;
  int *f;
  char c[3];
  short s;
  char *ce;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->ce == h->c + 3);
}
#endif
