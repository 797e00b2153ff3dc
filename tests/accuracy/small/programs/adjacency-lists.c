// A graph: vertices in an array, edges in lists.
// load: load_graph
// must: vertex edge
// either: graph
#include <stdio.h>
#include <stdlib.h>
struct edge { int to; float weight; struct edge *next; };
struct vertex { struct edge *out; int degree; };
struct graph { int n; struct vertex *v; };
int load_graph(struct graph *g, const char *path) {
  int a, b;
  float w;
  FILE *f = fopen(path, "r");
  if (!f || fscanf(f, "%d", &g->n) != 1)
    return -1;
  g->v = calloc(g->n, sizeof *g->v);
  while (fscanf(f, "%d %d %f", &a, &b, &w) == 3) {
    struct edge *e = malloc(sizeof *e);
    e->to = b;
    e->weight = w;
    e->next = g->v[a].out;
    g->v[a].out = e;
    g->v[a].degree++;
  }
  return fclose(f);
}
