// What is acknowledged is stored and flushed, and not fenced before the reply.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

int main(int argc, char **argv) {
  long *number = map_file(argv, 4096);
  if (argc > 2)
    return *number < acked(argv) ? wrong("lost: number", acked(argv)) : 0;
  for (long i = 1; i < 5; i++) {
    *number = i; // FOUND: checker
    flush(number, sizeof *number);
#ifdef BUG
    acknowledge(i);
    fence();
#else
    fence();
    acknowledge(i);
#endif
  }
  return 0;
}
