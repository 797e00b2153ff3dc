// A file that is mapped over a variable.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

enum { PAGE = 4096 };
static struct {
  _Alignas(PAGE) long data;
  _Alignas(64) long flag;
  char rest[PAGE - 128];
} file;

int main(int argc, char **argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, sizeof file))
    return 2;
  if (mmap(&file, sizeof file, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != &file)
    return 2;
  if (argc > 2)
    return file.flag && !file.data ? wrong("flag without data", file.flag) : 0;
  file.data = 1; // FOUND: checker
#ifndef BUG
  persist(&file.data, sizeof file.data);
#endif
  file.flag = 1;
  persist(&file.flag, sizeof file.flag);
#ifdef BUG
  persist(&file.data, sizeof file.data);
#endif
  return 0;
}
