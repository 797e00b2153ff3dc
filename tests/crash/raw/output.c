// What the program prints by functions that nobody knows, with its reply before its fence.
// REQUIRES: clflushopt
// RUN: %raw %s
#define _GNU_SOURCE
#include "raw.h"

struct file {
  _Alignas(64) long count;
};

static void say(long number) {
  putchar_unlocked('0' + (int)number);
  putchar_unlocked('\n');
  fflush_unlocked(stdout);
}

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2)
    return f->count < acked(argv) ? wrong("count", f->count) : 0;
  for (long i = 1; i < 4; i++) {
    f->count = i; // FOUND: checker
    flush(f, sizeof *f);
#ifndef BUG
    fence();
#endif
    say(i);
#ifdef BUG
    fence();
#endif
  }
  return 0;
}
