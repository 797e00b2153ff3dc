/* same */
#include "changed.h"
#include <new>
struct P {
  int a;
#if V == 0
  int b;
#endif
  virtual int f() { return a * 10 + V; }
  virtual ~P() {}
#if V == 1
  int b, c;
#endif
};
struct H {
  long id;
  P p;
};
struct root {
  P *o;
  H *h;
  P *inside;
};
P *volatile made;
static void *fill() {
  root *r = NEW(root);
  r->o = new (NEW(P)) P;
  r->o->a = 1;
  r->o->b = 2;
  r->h = new (NEW(H)) H;
  r->h->p.a = 5;
  r->h->p.b = 6;
  r->inside = &r->h->p;
  return r;
}
static void show(void *v) {
  if (V && !v)
    made = new P; // the program has the table
  root *r = static_cast<root *>(v);
  printf("%d %d; h %d %d; f %d\n", r->o->a, r->o->b, r->h->p.a, r->h->p.b, r->inside->f() / 10);
}
