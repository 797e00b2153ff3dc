// A directory of pointers, grown in steps, to records that are allocated one by one.
// Arrays of pointers.
// Wrong: 'station' missed; 'directory' (global record of roots) may go either way.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct station { // CHECK: station [[@LINE]]
  int x, y;
};
struct directory { // either
  struct station **stations;
  int count;
};
static struct directory directory;

int load(FILE *f) {
  struct station s;
  while (fread(&s, sizeof s, 1, f) == 1) {
    struct station **slot;
    if (!(directory.count & 63))
      directory.stations = realloc(directory.stations, (directory.count + 64) * sizeof *slot);
    slot = &directory.stations[directory.count++];
    *slot = malloc(sizeof **slot);
    (*slot)->x = s.x;
    (*slot)->y = s.y;
  }
  return 0;
}
