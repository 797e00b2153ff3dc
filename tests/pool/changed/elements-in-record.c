/* prints right */
#include "checked.h"
#if V == 0
struct part {
  int id;
  struct {
    int low, high, gone;
  } spans[2];
};
#else
struct part {
  int id;
  struct {
    int high, low, mode;
  } spans[2];
};
#endif
struct whole {
  long before;
  struct part one, some[2];
};
#if V == 0
void fill(NVM_POOL *P) {
  struct whole *w = NEW(struct whole);
  w->one = (struct part){1, {{2, 3, 9}, {4, 5, 9}}};
  w->some[1] = (struct part){6, {{7, 8, 9}, {10, 11, 9}}};
  nvm_pool_set_root(P, w);
}
#else
/* What was low is high now. */
static int is(const struct part *p, int id, int low, int high, int again) {
  return p->id == id && p->spans[0].high == low && p->spans[0].low == high &&
         p->spans[1].high == again && p->spans[0].mode == 7 && p->spans[1].mode == 7;
}
void check(NVM_POOL *P) {
  struct whole *w = nvm_pool_root(P);
  C(is(&w->one, 1, 2, 3, 4));
  C(is(&w->some[1], 6, 7, 8, 10));
}
#endif
