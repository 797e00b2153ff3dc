// All content of the record is in bit-fields.
// Wrong: 'cell' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct cell { // CHECK: cell [[@LINE]]
  unsigned kind : 4, seen : 1, lit : 1;
  unsigned height : 10;
};
struct grid { // CHECK: grid [[@LINE]]
  unsigned short width : 12, wrap : 1;
  struct cell *cells;
};
static struct grid *grid;

int load(FILE *f) {
  int i;
  grid = malloc(sizeof *grid);
  grid->width = getc(f);
  grid->wrap = getc(f) & 1;
  grid->cells = calloc(grid->width, sizeof(struct cell));
  for (i = 0; i < grid->width; ++i) {
    grid->cells[i].kind = getc(f);
    grid->cells[i].height = getc(f) << 2;
  }
  return 0;
}
