// "high" is for what input reaches, made where it is read or given to the load's caller; what the load
// also frees is less sure, and what no input reaches least.
// RUN: %scan -q --load load %s -- -std=gnu99 | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

// CHECK: cell {{.*}} medium
// CHECK: given {{.*}} high
// CHECK: lock {{.*}} low
// CHECK: rec {{.*}} high
struct rec {
  struct rec *next;
  int v;
};
struct cell {
  struct cell *next;
  int v;
};
struct lock {
  int depth;
};
struct given {
  struct given *next;
  int v;
};
static struct rec *recs;
static struct cell *cells;
static struct lock *held;
static struct cell *make_cell(int v) {
  struct cell *c = malloc(sizeof *c);
  c->v = v;
  c->next = cells;
  return c;
}
void load(FILE *f, struct given **out) {
  int v;
  while (fscanf(f, "%d", &v) == 1) {
    struct rec *r = malloc(sizeof *r);
    struct given *g = malloc(sizeof *g);
    held = malloc(sizeof *held);
    held->depth = 0;
    r->v = v;
    r->next = recs;
    recs = r;
    g->v = v;
    g->next = *out;
    *out = g;
    cells = make_cell(v);
    if (v == 7)
      free(cells);
  }
}
