/* An array fills its block, and another one lies behind: nothing else tells whether `to` leads to the end of the first
 * or to the second. MEANS says what it is to be. */
#include "checked.h"

struct number {
#if V == 1
  long added[41]; // arrays do not fill their blocks any more
#endif
  int value, more;
};
struct range {
  struct number *from, *to;
};
struct root {
  struct range *range;
  struct number *second; // or the second array would be lost if `to` were an end
};
#if V == 0
void fill(NVM_POOL *P) {
  struct root *root = NEW(struct root);
  struct range *range = root->range = NEW(struct range);
  for (int i = 0; i < 300 && (!i || range->to != range->from + 8); i++) {
    range->from = NEWN(struct number, 8);
    range->to = NEWN(struct number, 8);
  }
  range->from[0].value = 3;
  range->to[0].value = 4;
  root->second = range->to;
  nvm_pool_set_root(P, root);
}
#else
void check(NVM_POOL *P) {
  struct range *range = ((struct root *)nvm_pool_root(P))->range;
  C(range->from[0].value == 3 && MEANS(range));
}
#endif
