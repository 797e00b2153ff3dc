// What is stored wrongly once, at a place that was right before, is seen first at another place: the blame stays where it was
// stored.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

struct table {
  long slots[8 * 40];
  long closed;
};

int main(int argc, char **argv) {
  struct table *table = map_file(argv, sizeof *table);
  if (argc > 2) {
    for (long i = 0; i < 40; i++)
      if (table->slots[8 * i] && table->slots[8 * i] != i + 1)
        return wrong("slot", i);
    return 0;
  }
  for (long i = 0; i < 40; i++) {
#ifdef BUG
    table->slots[8 * i] = i == 29 ? i : i + 1; // FOUND: checker
#else
    table->slots[8 * i] = i + 1;
#endif
    persist(&table->slots[8 * i], sizeof(long));
  }
  table->closed = 1;
  persist(&table->closed, sizeof table->closed);
  return 0;
}
