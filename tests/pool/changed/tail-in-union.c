/* refused fields a and b share bytes */
#include "changed.h"
#if V == 0
struct box {
  long len;
  union {
    int a;
    char b[0];
  };
};
#else
struct box {
  long len;
  union {
    long a;
    char b[0];
  };
};
#endif
struct root {
  struct box *b;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->b = NEW(struct box);
  r->b->a = -99;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("a %ld\n", (long)r->b->a);
}
