// A file that is mapped twice, the first time only its head.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

enum { SIZE = 1 << 20, FAR = 5000 };

int main(int argc, char **argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, SIZE))
    return 2;
  long *head = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  long *all = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (argc > 2)
    return head[0] && all[FAR] != 7 ? wrong("head without", all[FAR]) : 0;
  all[FAR] = 7; // FOUND: checker
#ifndef BUG
  persist(&all[FAR], sizeof(long));
#endif
  head[0] = 1;
  persist(head, sizeof(long));
  msync(all, SIZE, MS_SYNC);
  return 0;
}
