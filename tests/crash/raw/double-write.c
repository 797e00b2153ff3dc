// A double write: the copy is given up before the page is on the media.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct page {
  long number[24]; // three lines, all the same number
};
struct file {
  long copied;
  char own_line[56];
  struct page copy, home;
};

static bool is_whole(const struct page *p) {
  for (int i = 1; i < 24; i++)
    if (p->number[i] != p->number[0])
      return false;
  return true;
}

static void fill(struct page *p, long number) {
  for (int i = 0; i < 24; i++)
    *(volatile long *)&p->number[i] = number; // FOUND: checker
}

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    const struct page *p = f->copied ? &f->copy : &f->home;
    return !is_whole(p) ? wrong("torn: a page, copied", f->copied)
           : p->number[0] < acked(argv) ? wrong("lost: number", acked(argv)) : 0;
  }
  for (long number = 1; number < 5; number++) {
    fill(&f->copy, number);
    persist(&f->copy, sizeof f->copy);
    f->copied = 1;
    persist(&f->copied, sizeof f->copied);
    fill(&f->home, number);
#ifdef BUG
    flush(&f->home, sizeof f->home);
#else
    persist(&f->home, sizeof f->home);
#endif
    f->copied = 0;
    persist(&f->copied, sizeof f->copied);
    acknowledge(number);
  }
  return 0;
}
