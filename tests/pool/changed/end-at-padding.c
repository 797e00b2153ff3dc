/* prints right */
#include "checked.h"
#if V == 0
struct T {
  long l;
  char c[3];
};
struct H {
  struct T *t;
  char *b, *e;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  h->t = NEW(struct T);
  h->b = h->t->c;
  h->e = h->t->c + 3;
  nvm_pool_set_root(P, h);
}
#else
struct T {
  long l, m;
  char c[3];
};
struct H {
  struct T *t;
  char *b, *e;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->b == h->t->c);
  C(h->e == h->t->c + 3);
}
#endif
