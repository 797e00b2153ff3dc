// A file that is mapped while it is empty, and made longer, shorter and longer again: what it lost is zero.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

enum { PAGE = 4096, WORDS = PAGE / sizeof(long) };

int main(int argc, char **argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
  long *f = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (argc > 2)
    return lseek(fd, 0, SEEK_END) == 2 * PAGE && f[WORDS] == 2 && f[WORDS + 8] != 3
               ? wrong("second without first:", f[WORDS + 8])
               : 0;
  if (ftruncate(fd, 2 * PAGE))
    return 2;
  f[WORDS + 8] = 3;
  persist(&f[WORDS + 8], sizeof(long));
  if (ftruncate(fd, PAGE) || ftruncate(fd, 2 * PAGE))
    return 2;
  f[WORDS + 8] = 3; // FOUND: checker
#ifndef BUG
  persist(&f[WORDS + 8], sizeof(long));
#endif
  f[WORDS] = 2;
  persist(&f[WORDS], sizeof(long));
#ifdef BUG
  persist(&f[WORDS + 8], sizeof(long));
#endif
  return 0;
}
