/* refused field v[].both is a pointer in the pool's, or marked as one */
#include "changed.h"
#if V == 0
struct it {
  NVM_XOR_PTR uintptr_t both;
  NVM_MADE_OF_ADDRESSES uint64_t h;
};
#else
struct it {
  uintptr_t both;
  uint64_t h;
  int z;
};
#endif
struct box {
  int n;
  struct it v[];
};
struct root {
  struct box *b;
  struct box *c;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = nvm_calloc(pool, NVM_TYPE_ID(struct box), 1, 8 + 16 * 3);
  r->c = nvm_calloc(pool, NVM_TYPE_ID(struct box), 1, 8 + 48);
  r->b->v[1].both = (uintptr_t)r->b ^ (uintptr_t)r->c;
  r->b->v[0].h = (uint64_t)r->b * 31;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("xor %d hash %d\n", r->b->v[1].both == ((uintptr_t)r->b ^ (uintptr_t)r->c),
         r->b->v[0].h == (uint64_t)r->b * 31);
}
