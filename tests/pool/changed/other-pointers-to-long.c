/* prints right */
#include "checked.h"
#if V == 0
struct H {
  int *a;
  long *b;
  struct H *h;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->b = nvm_calloc(P, 0, 1, 64);
  h->b[0] = 7;
  nvm_pool_set_root(P, h);
}
#else
struct H {
  long *a;
  long *b;
  struct H *h;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->b[0] == 7);
}
#endif
