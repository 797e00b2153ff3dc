// Polygons end in their points; a layer keeps them in a list with a tail, layers in a table by name.
// load: map_load
// must: poly layer
// either: pt
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { float x, y; } pt;
typedef struct poly { struct poly *next; int closed, n; pt pts[]; } poly;
typedef struct layer { char name[16]; poly *head, **tail; struct layer *next; } layer;
static layer *layers;
static layer *layer_get(const char *name) {
  layer *l;
  for (l = layers; l; l = l->next)
    if (strncmp(l->name, name, sizeof l->name) == 0)
      return l;
  l = malloc(sizeof *l);
  memset(l, 0, sizeof *l);
  strncpy(l->name, name, sizeof l->name - 1);
  l->tail = &l->head;
  l->next = layers;
  return layers = l;
}
static poly *poly_read(FILE *f, int n) {
  poly *p = malloc(sizeof(poly) + n * sizeof(pt));
  p->next = NULL;
  p->closed = 0;
  for (p->n = 0; p->n < n; p->n++)
    if (fscanf(f, "%f,%f", &p->pts[p->n].x, &p->pts[p->n].y) != 2) {
      free(p);
      return NULL;
    }
  return p;
}
int map_load(const char *file) {
  char name[16];
  int n;
  FILE *f = fopen(file, "r");
  while (f && fscanf(f, "%15s %d", name, &n) == 2) {
    layer *l = layer_get(name);
    poly *p = poly_read(f, n);
    if (!p)
      break;
    *l->tail = p;
    l->tail = &p->next;
  }
  return f ? fclose(f) : -1;
}
