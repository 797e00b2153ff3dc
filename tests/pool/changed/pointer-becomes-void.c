/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int x, y;
};
struct T {
  struct S s;
  long l;
};
struct H {
  struct S *p;
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->t = NEW(struct T);
  h->p = &h->t->s;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int x, y;
};
struct T {
  long l;
  struct S s;
};
struct H {
  void *p;
  struct T *t;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->p == &h->t->s);
}
#endif
