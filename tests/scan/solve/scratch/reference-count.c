// Objects carry reference counts; the load's own reference is given back at the end, by a function
// that frees only at zero.
// Reference counts; "conditional, ordered frees".
// Wrong: 'object' missed because 'release' may free it; 'context' (released for good) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct object { // CHECK: object [[@LINE]]
  int references;
  long value;
};
struct context {
  int lines;
  struct object *last;
};
static struct object *objects[100];

static struct object *keep(struct object *o) {
  ++o->references;
  return o;
}
static void release(struct object *o) {
  if (--o->references == 0)
    free(o);
}

int load(FILE *f) {
  struct context *c = calloc(1, sizeof *c);
  long value;
  while (c->lines < 100 && fread(&value, sizeof value, 1, f) == 1) {
    struct object *o = malloc(sizeof *o);
    o->references = 1;
    o->value = value;
    objects[c->lines++] = keep(o);
    c->last = o;
    release(o);
  }
  free(c);
  return 0;
}
