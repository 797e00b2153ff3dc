/* refused field row of struct H */
#include "checked.h"
#if V == 0
struct T {
  int m[2][3];
  long l;
};
struct H {
  int (*row)[3];
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct H *h = NEW(struct H);
  struct T *t = h->t = NEW(struct T);
  h->row = &t->m[0];
  t->m[1][2] = 5;
  nvm_pool_set_root(P, h);
}
#else
struct T {
  long l;
  int m[2][4];
};
struct H {
  int (*row)[3];
  struct T *t;
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  C(h->row[1][2] == 5);
}
#endif
