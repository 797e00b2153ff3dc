/* same */
#include "changed.h"
enum en { E0 = 1, E1 = 2 };
union U {
  long l;
  double d;
};
#if V == 0
struct node {
  int v;
  struct node *next;
};
#else
struct node {
  struct node *next;
  int v;
  long z;
};
#endif
typedef struct node *np;
typedef int i3[3];
struct root {
  np *arr;
  np *mid;
  np *end;
  np **pp;
  union U *u;
  enum en *e;
  double *d;
  int (*m)[3];
  np (*row)[2];
  struct node *n;
  int *last;
};
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->arr = NEWS(np, 10);
  for (int i = 0; i < 10; i++) {
    r->arr[i] = NEW(struct node);
    r->arr[i]->v = i;
  }
  r->mid = &r->arr[4];
  r->end = r->arr + 10;
  r->pp = (np **)nvm_calloc(pool, NVM_TYPE_ID(np *), 2, 8);
  r->pp[1] = &r->arr[7];
  r->u = NEWS(union U, 3);
  r->u[2].d = 1.5;
  r->e = NEWS(enum en, 4);
  r->e[3] = E1;
  r->d = NEWS(double, 4);
  r->d[3] = 2.5;
  r->m = (void *)nvm_calloc(pool, NVM_TYPE_ID(i3), 4, 12);
  r->m[3][2] = 9;
  r->row = (void *)&r->arr[2];
  r->n = NEWS(struct node, 5);
  r->n[4].v = 44;
  r->last = &r->n[4].v;
  r->n[3].next = &r->n[4];
  return r;
}
static void show(void *v) {
  struct root *r = v;
  int ok = 1;
  for (int i = 0; i < 10; i++)
    ok &= r->arr[i]->v == i;
  printf("%d mid %d end %d pp %d u %g e %d d %g m %d row %d n %d last %d nx %d\n", ok,
         r->mid == &r->arr[4], r->end == r->arr + 10, r->pp[1] == &r->arr[7], r->u[2].d, r->e[3],
         r->d[3], r->m[3][2], (void *)r->row == &r->arr[2], r->n[4].v, *r->last,
         r->n[3].next == &r->n[4]);
}
