/* refused leads to a block without type, and struct T has changed */
#include "checked.h"
#if V == 0
struct T {
  int x, y;
};
struct E {
  struct T *p;
};
struct H {
  long n;
  struct E e[];
};
struct R {
  struct H *h;
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct R *r = NEW(struct R);
  r->h = nvm_calloc(P, NVM_TYPE_ID(struct H), 1, sizeof(struct H) + 2 * sizeof(struct E));
  r->t = NEW(struct T);
  struct T *t = nvm_calloc(P, 0, 1, sizeof(struct T));
  t->x = 1;
  t->y = 2;
  r->h->n = 2;
  r->h->e[0].p = t;
  nvm_pool_set_root(P, r);
}
#else
struct T {
  long x, y;
};
struct E {
  struct T *p;
};
struct H {
  long n;
  struct E e[];
};
struct R {
  struct H *h;
  struct R *u;
};
void check(NVM_POOL *P) {
  struct R *r = nvm_pool_root(P);
  C(r->h->e[0].p->x == 1);
  C(r->h->e[0].p->y == 2);
}
#endif
