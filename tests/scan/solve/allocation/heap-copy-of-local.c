// The heap object gets all its content by one structure assignment from a local that was read.
// Design 2: "objects staged on the stack and copied to the heap count".
// Wrong: 'point' missed, or found only through its use as a local.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct point { // CHECK: point [[@LINE]]
  double x, y;
};
struct bounds {
  double low, high;
};
static struct point *points;
static double widest;

int load(FILE *f) {
  struct point p;
  struct bounds b = {0, 0};
  unsigned n = 0, room = 16;
  points = malloc(room * sizeof *points);
  while (fread(&p, sizeof p, 1, f) == 1 && n < room) {
    points[n++] = p;
    if (p.x > b.high)
      b.high = p.x;
  }
  widest = b.high - b.low;
  return 0;
}
