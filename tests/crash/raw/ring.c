// A ring buffer: a slot is written again before the head that gives it free is on the media.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

enum { SLOTS = 4 };
struct ring {
  long head, padding[7];
  long tail, more_padding[7];
  struct {
    long number, padding[7];
  } slot[SLOTS];
};

int main(int argc, char **argv) {
  struct ring *r = map_file(argv, sizeof *r);
  if (argc > 2) {
    for (long i = r->head; i < r->tail; i++)
      if (r->slot[i % SLOTS].number != i + 1)
        return wrong("overwritten: number", i + 1);
    return r->tail < acked(argv) ? wrong("tail", r->tail) : 0;
  }
  for (long i = 0; i < 9; i++) {
    if (i - r->head == SLOTS) {
      r->head++; // FOUND: checker
#ifndef BUG
      persist(&r->head, sizeof r->head);
#endif
    }
    r->slot[i % SLOTS].number = i + 1;
    persist(&r->slot[i % SLOTS], sizeof(long));
    r->tail = i + 1;
    persist(&r->tail, sizeof r->tail);
    acknowledge(i + 1);
  }
#ifdef BUG
  persist(&r->head, sizeof r->head);
#endif
  return 0;
}
