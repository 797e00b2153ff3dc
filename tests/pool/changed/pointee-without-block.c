/* refused field p leads to struct X in the pool's, to struct Y in the program's */
#include "checked.h"
#if V == 0
struct X {
  int x, y;
};
struct K {
  struct X x;
  long q;
};
struct Y {
  int y, x;
};
struct H {
  struct X *p;
  struct K *k;
  struct Y *y;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->k = NEW(struct K);
  h->k->x.x = 1;
  h->k->x.y = 2;
  h->p = &h->k->x;
  nvm_pool_set_root(P, h);
}
#else
struct X {
  int x, y;
};
struct K {
  struct X x;
  long q;
};
struct Y {
  int y, x;
};
struct H {
  struct Y *p;
  struct K *k;
  struct Y *y;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->p->x == 1);
  C(h->p->y == 2);
}
#endif
