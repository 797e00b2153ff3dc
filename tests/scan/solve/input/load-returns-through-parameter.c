// The load function gives the object that it built through a pointer to pointer.
// Load forms; design 3: "what the caller keeps".
// Wrong: nothing.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct rule { // CHECK: rule [[@LINE]]
  int from, to;
};
struct grammar { // CHECK: grammar [[@LINE]]
  struct rule *rules;
  unsigned count;
};

int load(const char *path, struct grammar **result) {
  FILE *f = fopen(path, "rb");
  struct grammar *g = malloc(sizeof *g);
  fread(&g->count, sizeof g->count, 1, f);
  g->rules = malloc(g->count * sizeof *g->rules);
  fread(g->rules, sizeof *g->rules, g->count, f);
  fclose(f);
  *result = g;
  return 0;
}
