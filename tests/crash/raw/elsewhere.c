// Code that nobody compiled for the trace stores: it is found where its line is flushed, and lost like any other.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

struct file {
  _Alignas(64) char text[64];
  _Alignas(64) long valid;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2)
    return f->valid && strcmp(f->text, "17 and 4") ? wrong("another text, valid", f->valid) : 0;
  int (*volatile print)(char *, const char *, ...) = sprintf;
  print(f->text, "%d and %d", 17, 4); // FOUND: checker
#ifndef BUG
  persist(f->text, sizeof f->text);
#endif
  f->valid = 1;
  persist(&f->valid, sizeof f->valid);
#ifdef BUG
  persist(f->text, sizeof f->text);
#endif
  return 0;
}
