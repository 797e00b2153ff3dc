/* refused field (vtable) leads to another table of virtual functions */
#include "changed.h"
#include <new>
struct shape {
  int sides;
  virtual int area() { return sides; }
};
struct named {
  int name;
  virtual int label() { return name; }
};
#if V == 0
struct circle : shape, named {
#else
struct circle : named, shape {
#endif
  int area() override { return 10 + sides; }
  int label() override { return 20 + name; }
};
static void *fill(void) {
  circle *c = new (NEW(circle)) circle;
  c->sides = 1;
  c->name = 2;
  return c;
}
static void show(void *v) {
  circle *c = (circle *)v;
  shape *s = c;
  named *n = c;
  printf("area %d label %d\n", s->area(), n->label());
}
