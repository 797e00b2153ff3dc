// The load function fills a structure that the caller gives it.
// Load forms: fills a caller's struct.
// Wrong: 'state' missed (it is neither allocated nor global here) or 'weight' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct weight { // CHECK: weight [[@LINE]]
  float value;
  int from;
};
struct network { // CHECK: network [[@LINE]]
  int inputs, outputs, epochs;
  float rate;
  struct weight *weights;
};

int load(struct network *n, const char *path) {
  FILE *f = fopen(path, "rb");
  fread(&n->inputs, sizeof n->inputs, 1, f);
  fread(&n->outputs, sizeof n->outputs, 1, f);
  fread(&n->epochs, sizeof n->epochs, 1, f);
  fread(&n->rate, sizeof n->rate, 1, f);
  n->weights = malloc(n->inputs * n->outputs * sizeof *n->weights);
  fread(n->weights, sizeof *n->weights, n->inputs * n->outputs, f);
  fclose(f);
  return 0;
}
