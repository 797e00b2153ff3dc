/* prints right */
#include "checked.h"
#if V == 0
struct part {
  int id;
  struct {
    int low, high;
  } span;
};
#else
struct part {
  int id;
  struct {
    int low, high, step;
  } range;
};
#endif
struct whole {
  long before;
  struct part one, some[2];
};
#if V == 0
void fill(NVM_POOL *P) {
  struct whole *w = NEW(struct whole);
  w->one = (struct part){1, {2, 3}};
  w->some[1] = (struct part){4, {5, 6}};
  nvm_pool_set_root(P, w);
}
#else
void check(NVM_POOL *P) {
  struct whole *w = nvm_pool_root(P);
  C(w->one.id == 1 && w->one.range.low == 2 && w->one.range.high == 3 && !w->one.range.step);
  C(w->some[1].id == 4 && w->some[1].range.low == 5 && w->some[1].range.high == 6);
}
#endif
