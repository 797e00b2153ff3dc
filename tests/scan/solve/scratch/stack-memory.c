// Working memory from alloca and variable-length arrays.
// Stack memory is never left behind.
// Wrong: 'column' or 'window' reported.
// RUN: %scan --format=json --load load %s -- -std=gnu99 | %types
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>

struct column {
  int width;
};
struct window {
  double sum;
};
struct series { // CHECK: series [[@LINE]]
  int count;
  double values[];
};
static struct series *series;

int load(FILE *f) {
  int columns = getc(f), i;
  struct column *c = alloca(columns * sizeof *c);
  struct window w[columns + 1];
  series = malloc(sizeof *series + columns * sizeof(double));
  series->count = columns;
  for (i = 0; i < columns; ++i) {
    c[i].width = getc(f);
    fscanf(f, "%lf", &w[i].sum);
    series->values[i] = w[i].sum / c[i].width;
  }
  return 0;
}
