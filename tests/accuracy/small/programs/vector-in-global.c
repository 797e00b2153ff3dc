// A container by value in a global: data, count, capacity.
// load: read_points
// must: point
// either: points
#include <stdio.h>
#include <stdlib.h>
struct point { double x, y; };
struct points { struct point *v; int n, cap; };
struct points track;
static void push(struct points *p, struct point q) {
  if (p->n == p->cap) {
    p->cap = p->cap ? 2 * p->cap : 8;
    p->v = realloc(p->v, p->cap * sizeof *p->v);
  }
  p->v[p->n++] = q;
}
int read_points(const char *path) {
  FILE *f = fopen(path, "r");
  struct point q;
  while (f && fscanf(f, "%lf %lf", &q.x, &q.y) == 2)
    push(&track, q);
  return f ? fclose(f) : -1;
}
