/* prints right */
#include "checked.h"
/* The map says of `struct part` what becomes of its records; it lies by value in another record, and in an array. */
#if V == 0
struct part {
  int id;
  struct {
    int low, high;
  } span;
  struct {
    int low, high, gone;
  } spans[2];
};
#else
struct part {
  int id;
  struct {
    int low, high, step;
  } range;
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
  w->one = (struct part){1, {2, 3}, {{12, 13, 9}, {14, 15, 9}}};
  w->some[1] = (struct part){4, {5, 6}, {{22, 23, 9}, {24, 25, 9}}};
  nvm_pool_set_root(P, w);
}
#else
/* Of `spans` what was low is high now. */
static int is(const struct part *p, int id, int first) {
  return p->id == id && p->range.low == id + 1 && p->range.high == id + 2 && !p->range.step &&
         p->spans[0].high == first && p->spans[0].low == first + 1 &&
         p->spans[1].high == first + 2 && p->spans[1].low == first + 3 && p->spans[0].mode == 7 &&
         p->spans[1].mode == 7;
}
void check(NVM_POOL *P) {
  struct whole *w = nvm_pool_root(P);
  C(is(&w->one, 1, 12));
  C(is(&w->some[1], 4, 22));
}
#endif
