/* refused leads to where bits of its address would be taken for its tag */
#include "checked.h"
#if V == 0
struct T {
  long l;
  int x, y;
};
struct H {
  NVM_TAGGED_PTR(int *, 7) p;
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->t = NEW(struct T);
  h->t->x = 5;
  h->t->y = 6;
  h->p = (int *)((uintptr_t)&h->t->x | 3);
  nvm_pool_set_root(P, h);
}
#else
struct T {
  int a, x;
  long l;
  int y;
};
struct H {
  NVM_TAGGED_PTR(int *, 7) p;
  struct T *t;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->t->x == 5);
  C(((uintptr_t)h->p & 7) == 3);
  C(*(int *)((uintptr_t)h->p & ~7ul) == 5);
}
#endif
