/* refused field v is a pointer in the program's, or marked as one */
#include "checked.h"
#if V == 0
struct T {
  uint64_t v;
  struct T *t;
};
void fill(NVM_POOL *P) {
  struct T *t = NEW(struct T);
  t->t = t;
  t->v = (uint64_t)t + 8;
  nvm_pool_set_root(P, t);
}
#else
struct T {
  uint64_t x;
  NVM_PTR_OR_NUMBER uint64_t v;
  struct T *t;
};
void check(NVM_POOL *P) {
  struct T *t = nvm_pool_root(P);
  printf("%ld\n", (long)t->v - (long)t);
}
#endif
