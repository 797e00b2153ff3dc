// Objects come from a pool that carves chunks and keeps freed ones in a list of its own.
// FINDINGS: "pool allocators"; rule 4: result generic, no void * parameter, malloc by direct calls.
// Wrong: 'edge' and 'vertex' missed, or both taken for one object. The pool itself may go either way.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct chunk { // either
  struct chunk *next;
  size_t used;
  char memory[4000];
};
struct pool { // either
  struct chunk *chunks;
};
static struct pool graphPool;

static void refill(struct pool *p) {
  struct chunk *c = malloc(sizeof *c);
  c->used = 0;
  c->next = p->chunks;
  p->chunks = c;
}
static void *poolGet(struct pool *p, size_t size) {
  void *result;
  size = (size + 7) & ~(size_t)7;
  if (!p->chunks || p->chunks->used + size > sizeof p->chunks->memory)
    refill(p);
  result = p->chunks->memory + p->chunks->used;
  p->chunks->used += size;
  return result;
}

struct vertex;
struct edge { // CHECK: edge [[@LINE]]
  struct vertex *to;
  struct edge *next;
};
struct vertex { // CHECK: vertex [[@LINE]]
  int id;
  struct edge *edges;
  struct vertex *next;
};
static struct vertex *graph;

int load(FILE *f) {
  int id, degree;
  while (fscanf(f, "%d %d", &id, &degree) == 2) {
    struct vertex *v = poolGet(&graphPool, sizeof *v);
    v->id = id;
    v->edges = NULL;
    while (degree--) {
      struct edge *e = poolGet(&graphPool, sizeof *e);
      e->to = graph;
      e->next = v->edges;
      v->edges = e;
    }
    v->next = graph;
    graph = v;
  }
  return 0;
}
