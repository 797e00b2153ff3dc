/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int a;
  struct S *p;
};
struct H {
  long z;
  int n;
  struct S t[];
};
struct R {
  struct H *h;
  struct S *e, *b;
  int *i;
};
void fill(NVM_POOL *P) {
  struct R *r = NEW(struct R);
  struct H *h = r->h =
      nvm_calloc(P, NVM_TYPE_ID(struct H), 1, sizeof(struct H) + 5 * sizeof(struct S));
  h->n = 5;
  for (int i = 0; i < 5; i++) {
    h->t[i].a = i;
    h->t[i].p = &h->t[4 - i];
  }
  r->e = h->t + 5;
  r->b = h->t;
  r->i = &h->t[3].a;
  nvm_pool_set_root(P, r);
}
#else
struct S {
  long v;
  int b;
  struct S *p;
};
struct H {
  int n;
  long z;
  struct S u[];
};
struct R {
  struct H *h;
  struct S *e, *b;
  int *i;
};
void check(NVM_POOL *P) {
  struct R *r = nvm_pool_root(P);
  struct H *h = r->h;
  C(h->n == 5);
  for (int i = 0; i < 5; i++) {
    C(h->u[i].b == i);
    C(h->u[i].v == 3);
    C(h->u[i].p == &h->u[4 - i]);
  }
  C(r->e == h->u + 5);
  C(r->b == h->u);
  C(r->i == &h->u[3].b);
}
#endif
