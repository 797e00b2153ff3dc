// What fsync, syncfs and sync make durable, whether it is mapped or not.
// RUN: %raw %s
#define _GNU_SOURCE
#include "raw.h"

static void set(int fd, int at) {
  char *got = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (got == MAP_FAILED)
    abort();
  got[64 * at] = 42; // FOUND: checker
  munmap(got, 4096);
}

int main(int argc, char **argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, 4096))
    return 2;
  if (argc > 2) {
    char *got = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < 3; i++)
      if (got[64 * (i + 1)] && !got[64 * i])
        return wrong("out of order:", i);
    return 0;
  }
  for (int i = 0; i < 4; i++) {
    set(fd, i);
#ifndef BUG
    if (i == 0)
      fsync(fd);
    else if (i == 1)
      syncfs(fd);
    else
      sync();
#endif
  }
  fsync(fd);
  return 0;
}
