/* refused leads to where nothing of its type begins or ends */
#include "changed.h"
#if V == 0
typedef int num;
#else
typedef long num;
#endif
struct root {
  int n;
  num *v;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->n = 4;
  r->v = NEWS(num, 4);
  for (int i = 0; i < 4; i++)
    r->v[i] = i + 1;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("%ld %ld %ld %ld\n", (long)r->v[0], (long)r->v[1], (long)r->v[2], (long)r->v[3]);
}
