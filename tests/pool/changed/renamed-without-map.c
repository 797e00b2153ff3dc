/* refused field v leads to struct item in the pool's, to struct entry in the program's */
#include "changed.h"
#if V == 0
struct item {
  int a;
  int b;
};
typedef struct item it;
#else
struct entry {
  int b;
  int a;
  int c;
};
typedef struct entry it;
#endif
struct root {
  int n;
  it *v;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->n = 4;
  r->v = NEW(it);
  r->v->a = 1;
  r->v->b = 2;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("%d %d\n", r->v->a, r->v->b);
}
