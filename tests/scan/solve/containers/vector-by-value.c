// A generic vector keeps elements by value: the element type is seen on the stack when one is
// pushed, and in casts when one is read.
// FINDINGS: types at allocation are not enough; design 2: objects staged on the stack count.
// Wrong: 'reading' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vector { // CHECK: vector [[@LINE]]
  char *data;
  size_t used, room, width;
};
static struct vector *vectorNew(size_t width) {
  struct vector *v = calloc(1, sizeof *v);
  v->width = width;
  return v;
}
static void vectorPush(struct vector *v, const void *element) {
  if (v->used == v->room) {
    v->room = v->room * 2 + 8;
    v->data = realloc(v->data, v->room * v->width);
  }
  memcpy(v->data + v->used++ * v->width, element, v->width);
}
static void *vectorAt(struct vector *v, size_t i) { return v->data + i * v->width; }

struct reading { // CHECK: reading [[@LINE]]
  long when;
  double value;
};
struct extremes {
  double low, high;
};
static struct vector *readings;

double reading(size_t i) { return ((struct reading *)vectorAt(readings, i))->value; }

int load(FILE *f) {
  struct reading r;
  struct extremes e = {0, 0};
  readings = vectorNew(sizeof(struct reading));
  while (fread(&r.when, sizeof r.when, 1, f) == 1 && fread(&r.value, sizeof r.value, 1, f) == 1) {
    vectorPush(readings, &r);
    if (((struct reading *)vectorAt(readings, 0))->value > e.high)
      e.high = r.value;
  }
  return e.high > e.low;
}
