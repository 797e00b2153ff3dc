// Each class makes its objects by a method that is given nothing, and reads them by another.
// Wrong: 'circle' or 'box' missed.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct shape { // either
  struct shape *next;
};
struct circle { // CHECK: circle [[@LINE]]
  struct shape base;
  double r;
};
struct box { // CHECK: box [[@LINE]]
  struct shape base;
  double w, h;
};
static struct shape *make_circle(void) { return calloc(1, sizeof(struct circle)); }
static struct shape *make_box(void) { return calloc(1, sizeof(struct box)); }
static void read_circle(struct shape *s, FILE *f) { fscanf(f, "%lf", &((struct circle *)s)->r); }
static void read_box(struct shape *s, FILE *f) {
  struct box *b = (struct box *)s;
  fscanf(f, "%lf %lf", &b->w, &b->h);
}
static const struct {
  struct shape *(*make)(void);
  void (*read)(struct shape *, FILE *);
} classes[] = {{make_circle, read_circle}, {make_box, read_box}};
static struct shape *shapes;
void load(FILE *f) {
  int c;
  while ((c = fgetc(f)) != EOF) {
    struct shape *s = classes[c & 1].make();
    classes[c & 1].read(s, f);
    s->next = shapes;
    shapes = s;
  }
}
