// An own undo log: the data change before the log has the old ones.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

struct file {
  long a, padding[7];
  long b, more_padding[7];
  struct {
    long valid, a, b;
  } log;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    long a = f->log.valid ? f->log.a : f->a, b = f->log.valid ? f->log.b : f->b;
    return a != b ? wrong("a and b differ; a is", a) : a < acked(argv) ? wrong("lost: a is", a) : 0;
  }
  for (long i = 1; i < 4; i++) {
    f->log.a = f->a;
    f->log.b = f->b;
    persist(&f->log, sizeof f->log);
    f->log.valid = 1; // FOUND: checker
#ifndef BUG
    persist(&f->log.valid, sizeof f->log.valid);
#endif
    f->a = i;
    f->b = i;
    flush(&f->a, sizeof f->a);
    persist(&f->b, sizeof f->b);
    f->log.valid = 0;
    persist(&f->log.valid, sizeof f->log.valid);
    acknowledge(i);
  }
  return 0;
}
