// An allocator's bitmap: the bit of an object is set behind the pointer to it.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct heap {
  uint64_t used; // a bit for each object
  char own_line[56];
  long list; // number of an object, from 1 on
  char line_of_list[56];
  struct {
    long next, number;
    char rest[48];
  } object[64];
};

int main(int argc, char **argv) {
  struct heap *h = map_file(argv, sizeof *h);
  if (argc > 2) {
    long length = 0;
    for (long at = h->list; at; at = h->object[at].next, length++)
      if (!(h->used >> at & 1))
        return wrong("in the list and free: object", at);
    return length < acked(argv) ? wrong("length", length) : 0;
  }
  for (long i = 1; i < 6; i++) {
    h->object[i].number = i;
    h->object[i].next = h->list;
    persist(&h->object[i], sizeof h->object[i]);
#ifndef BUG
    h->used |= UINT64_C(1) << i;
    persist(&h->used, sizeof h->used);
#endif
    h->list = i; // FOUND: checker
    persist(&h->list, sizeof h->list);
#ifdef BUG
    h->used |= UINT64_C(1) << i;
    persist(&h->used, sizeof h->used);
#endif
    acknowledge(i);
  }
  return 0;
}
