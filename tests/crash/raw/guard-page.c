// Memory of the file that cannot be read: a guard page, and what lies behind the end of the file.
// REQUIRES: clflushopt
// RUN: %raw %s
#define _GNU_SOURCE
#include "raw.h"

enum { PAGE = 4096 };

int main(int argc, char **argv) {
  char *p = map_file(argv, 4 * PAGE);
  if (argc > 2)
    return p[64] && !p[0] ? wrong("second without first:", p[64]) : 0;
  mprotect(p + PAGE, PAGE, PROT_NONE);
  if (truncate(argv[1], 3 * PAGE))
    return 2;
  memset(p, 1, 1); // FOUND: checker
#ifndef BUG
  persist(p, 1);
#endif
  memset(p + 64, 1, 1);
  persist(p + 64, 1);
  msync(p, 3 * PAGE, MS_SYNC);
  return 0;
}
