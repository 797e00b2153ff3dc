/* same */
#include "changed.h"
struct sub {
  int x, y;
};
#if V == 0
struct elem {
  struct sub s;
  int k;
};
#else
struct elem {
  int tag;
  struct sub s;
  int k;
};
#endif
struct outer {
  long id;
  struct elem arr[4];
};
struct root {
  struct outer *o;
  struct sub *p;
  struct elem *e;
  int *i;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->o = NEW(struct outer);
  for (int i = 0; i < 4; i++) {
    r->o->arr[i].s.x = 10 + i;
    r->o->arr[i].s.y = 20 + i;
    r->o->arr[i].k = 30 + i;
  }
  r->p = &r->o->arr[2].s;
  r->e = &r->o->arr[2];
  r->i = &r->o->arr[2].s.x;
  return r;
}
static void show(void *v) {
  struct root *r = v;
  printf("sub %d %d (want 12 22) elem.k %d int %d; p right: %d e right %d\n", r->p->x, r->p->y,
         r->e->k, *r->i, r->p == &r->o->arr[2].s, r->e == &r->o->arr[2]);
}
