// The load function gives the object that it built to its caller and touches no global.
// Load forms: returns the built object; design 3: "or from what the caller keeps".
// Wrong: nothing (no global reaches the objects); 'parser' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct layer { // CHECK: layer [[@LINE]]
  int depth;
  struct layer *below;
};
struct map { // CHECK: map [[@LINE]]
  struct layer *top;
  int width, height;
};
struct parser {
  FILE *file;
  int line;
};

struct map *load(const char *path) {
  struct parser *p = malloc(sizeof *p);
  struct map *m = calloc(1, sizeof *m);
  int depth;
  p->file = fopen(path, "r");
  p->line = 0;
  fscanf(p->file, "%d %d", &m->width, &m->height);
  while (fscanf(p->file, "%d", &depth) == 1) {
    struct layer *l = malloc(sizeof *l);
    l->depth = depth;
    l->below = m->top;
    m->top = l;
    ++p->line;
  }
  fclose(p->file);
  free(p);
  return m;
}
