// One type is used both for a local that is only compared with and for the objects that stay.
// FINDINGS: "types used both as scratch and as data (so 'seen on the stack' proves nothing)".
// Wrong: 'range' dropped because it is seen on the stack; 'cursor' (only ever a local) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct range { // CHECK: range [[@LINE]]
  long low, high;
};
struct cursor {
  struct range at;
  int line;
};
static struct range **ranges;
static size_t count;

static int inside(const struct range *a, const struct range *b) {
  return a->low >= b->low && a->high <= b->high;
}

int load(FILE *f) {
  struct cursor c = {{0, 0}, 0};
  while (fscanf(f, "%ld %ld", &c.at.low, &c.at.high) == 2) {
    struct range all = {0, 1 << 20}, *r;
    ++c.line;
    if (!inside(&c.at, &all))
      continue;
    r = malloc(sizeof *r);
    r->low = c.at.low;
    r->high = c.at.high;
    ranges = realloc(ranges, (count + 1) * sizeof *ranges);
    ranges[count++] = r;
  }
  return 0;
}
