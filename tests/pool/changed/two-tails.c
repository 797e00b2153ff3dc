/* refused fields a and b share bytes */
#include "checked.h"
#if V == 0
struct H {
  int k, n;
  union {
    int a[0];
    short b[0];
  };
};
void fill(NVM_POOL *P) {
  struct H *h = nvm_calloc(P, NVM_TYPE_ID(struct H), 1, sizeof(struct H) + 16);
  h->k = 0;
  h->n = 4;
  for (int i = 0; i < 4; i++)
    h->a[i] = i + 1;
  nvm_pool_set_root(P, h);
}
#else
struct H {
  int k, n;
  union {
    long a[0];
    short b[0];
  };
};
void check(NVM_POOL *P) {
  struct H *h = nvm_pool_root(P);
  for (int i = 0; i < 4; i++)
    C(h->a[i] == i + 1);
}
#endif
