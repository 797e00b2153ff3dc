/* refused field b is a bit-field of more than 64 bits */
#include "changed.h"
#if V == 0
struct A {
  unsigned __int128 b : 100;
  int z;
};
#else
struct A {
  unsigned __int128 b : 100;
  int z;
  int q;
};
#endif
struct root {
  struct A *a;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->a = NEW(struct A);
  r->a->b = ((unsigned __int128)5 << 70) | 7;
  r->a->z = 9;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("%llu %llu %d (320 7 9)\n", (unsigned long long)(r->a->b >> 64),
         (unsigned long long)r->a->b, r->a->z);
}
