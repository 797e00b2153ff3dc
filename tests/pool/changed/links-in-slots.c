/* same */
#include "changed.h"
struct link {
  struct link *next, *prev;
};
#if V == 0
struct slot {
  struct link l;
  int v;
};
#else
struct slot {
  int v;
  struct link l;
  int w;
};
#endif
struct table {
  long n;
  struct slot s[8];
  struct link head;
};
struct root {
  struct table *t;
  struct slot *many;
};
#define E(x) ((struct slot *)((char *)(x) - __builtin_offsetof(struct slot, l)))
static void add(struct link *h, struct link *n) {
  n->next = h->next;
  n->prev = h;
  h->next->prev = n;
  h->next = n;
}
static void *fill(void) {
  struct root *r = NEW(struct root);
  r->t = NEW(struct table);
  r->many = NEWS(struct slot, 4);
  struct link *h = &r->t->head;
  h->next = h->prev = h;
  for (int i = 0; i < 8; i++) {
    r->t->s[i].v = i;
    add(h, &r->t->s[i].l);
  }
  for (int i = 0; i < 4; i++) {
    r->many[i].v = 100 + i;
    add(h, &r->many[i].l);
  }
  return r;
}
static void show(void *v) {
  struct root *r = v;
  struct link *h = &r->t->head;
  int k = 0;
  for (struct link *q = h->next; q != h && k < 20; q = q->next, k++)
    printf("%d ", E(q)->v);
  puts("");
}
