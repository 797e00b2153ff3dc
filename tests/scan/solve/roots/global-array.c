// A global array of records is filled in place.
// Rule 9: "global arrays of records that receive tainted writes count".
// Wrong: 'city' missed (nothing is allocated); 'total' (a global record of sums) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>

struct city { // CHECK: city [[@LINE]]
  int people;
  char name[24];
};
static struct city cities[300];
struct totals {
  long people;
  int count, largest, smallest, skipped, version;
};
static struct totals totals;

int load(const char *path) {
  FILE *f = fopen(path, "r");
  while (totals.count < 300 &&
         fscanf(f, "%23s %d", cities[totals.count].name, &cities[totals.count].people) == 2)
    totals.people += cities[totals.count++].people;
  fclose(f);
  return 0;
}
