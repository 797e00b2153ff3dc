/* refused struct TYPO (now struct S2) is not a type of the pool */
#include "checked.h"
#if V == 0
struct S {
  int x, y;
};
struct H {
  void *s;
  long l;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  struct S *s = h->s = NEW(struct S);
  s->x = 1;
  s->y = 2;
  nvm_pool_set_root(P, h);
}
#else
struct S2 {
  long x, y;
};
struct H {
  void *s;
  long l;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(((struct S2 *)h->s)->x == 1);
  NEW(struct S2);
}
#endif
