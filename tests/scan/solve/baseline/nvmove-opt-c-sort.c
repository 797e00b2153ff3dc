// As nvmove-opt-c.c, with a function of libc that neither allocates nor reads.
// Wrong: 'partition' reported with (c).
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- | %types
// RUN: %scan --format=json --load load --algorithm=nvmove --nvmove-opts=abd %s -- \
// RUN:   | %types --check-prefixes=CHECK,BODY
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct partition { // BODY: partition [[@LINE]]
  char *low, *high;
};
struct mark { // CHECK: mark [[@LINE]]
  int value;
};
static struct mark marks[100];

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  struct partition p;
  char swap[64];
  p.high = (char *)base + count * size;
  for (p.low = base; p.low + size < p.high; p.low += size)
    if (compare(p.low, p.low + size) > 0) {
      memcpy(swap, p.low, size);
      memcpy(p.low, p.low + size, size);
      memcpy(p.low + size, swap, size);
      p.low = base;
    }
}
static int byValue(const void *a, const void *b) {
  return ((const struct mark *)a)->value - ((const struct mark *)b)->value;
}

int load(FILE *f) {
  int i;
  for (i = 0; i < 100; ++i)
    marks[i].value = getc(f);
  qsort(marks, 100, sizeof *marks, byValue);
  return 0;
}
