// auto, nullptr, typeof and attributes.
// load: load_bins
// must: bin
// flags: -std=c2x
#include <stdio.h>
#include <stdlib.h>
struct bin { long lo, hi, hits; struct bin *next; };
static struct bin *bins = nullptr;
[[nodiscard]] static typeof(struct bin *) bin_new(long lo, long hi) {
  auto b = (struct bin *)malloc(sizeof(struct bin));
  *b = (struct bin){.lo = lo, .hi = hi, .next = bins};
  return b;
}
bool load_bins(FILE *f) {
  long lo, hi;
  while (fscanf(f, "%ld-%ld", &lo, &hi) == 2)
    bins = bin_new(lo, hi);
  return bins != nullptr;
}
