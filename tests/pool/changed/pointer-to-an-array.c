/* prints right */
#include "checked.h"
#if V == 0
struct S {
  int a, b;
};
struct T {
  struct S s[2];
  long l;
};
struct H {
  struct S (*row)[2];
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  struct T *t = h->t = NEW(struct T);
  h->row = &t->s;
  nvm_pool_set_root(P, h);
}
#else
struct S {
  int a, b;
};
struct T {
  long l;
  struct S s[2];
};
struct H {
  struct S (*row)[2];
  struct T *t;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  struct T *t = h->t;
  C(h->row == &t->s);
}
#endif
