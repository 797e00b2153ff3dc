/* refused field a of struct H */
#include "checked.h"
#if V == 0
struct T {
  int v;
  int w;
  long x;
};
struct H {
  int *a;
  int *b;
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->t = NEW(struct T);
  h->a = &h->t->v;
  h->t->v = 3;
  h->t->w = 4;
  nvm_pool_set_root(P, h);
}
#else
struct T {
  long v;
  int w;
  long x;
};
struct H {
  int *a;
  long *b;
  struct T *t;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(*h->a == 3);
  h->a[0] = -1;
  C(h->t->v == -1);
}
#endif
