// Two words that belong together are stored at once, as was thought: a line arrives in units of eight bytes.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct pair {
  long number, square;
};
struct file {
  _Alignas(64) struct pair pair[2];
  _Alignas(64) long current;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    const struct pair *p = &f->pair[f->current];
    return p->square != p->number * p->number ? wrong("torn: the pair of", p->number)
           : p->number < acked(argv)          ? wrong("lost: number", acked(argv))
                                              : 0;
  }
  for (long i = 1; i < 5; i++) {
#ifdef BUG
    struct pair next = {i, i * i};
    memcpy(&f->pair[0], &next, sizeof next); // FOUND: checker
    persist(&f->pair[0], sizeof f->pair[0]);
#else
    f->pair[!f->current] = (struct pair){i, i * i};
    persist(&f->pair[!f->current], sizeof f->pair[0]);
    f->current = !f->current;
    persist(&f->current, sizeof f->current);
#endif
    acknowledge(i);
  }
  return 0;
}
