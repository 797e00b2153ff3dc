// After reading, an array of pointers is sorted with libc's qsort; the comparison keeps statistics.
// Library callbacks: qsort.
// Wrong: 'item' lost through the sort; 'costs' (kept by the comparison, counters only) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct item { // CHECK: item [[@LINE]]
  int rank;
};
struct costs {
  long compared;
};
static struct item **items;
static int count;
static struct costs costs;

static int byRank(const void *a, const void *b) {
  ++costs.compared;
  return (*(struct item *const *)a)->rank - (*(struct item *const *)b)->rank;
}

int load(FILE *f) {
  struct item **all = malloc(1000 * sizeof *all);
  while (count < 1000) {
    struct item *i = malloc(sizeof *i);
    if (fread(&i->rank, sizeof i->rank, 1, f) != 1) {
      free(i);
      break;
    }
    all[count++] = i;
  }
  qsort(all, count, sizeof *all, byRank);
  items = all;
  return 0;
}
