// The words of one copy have no order: which is stored first is for the compiler to choose.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

struct record {
  _Alignas(64) long data[3];
  long valid;
};

__attribute__((noinline)) static void copy(void *to, const void *from, size_t size) {
  memcpy(to, from, size); // FOUND: checker
}

int main(int argc, char **argv) {
  struct record *r = map_file(argv, sizeof *r);
  if (argc > 2)
    return r->valid && r->data[0] != 1 ? wrong("valid without data:", r->data[0]) : 0;
  struct record new = {.data = {1, 2, 3}, .valid = argc};
#ifdef BUG
  copy(r, &new, sizeof new);
#else
  copy(r->data, new.data, sizeof new.data);
  persist(r->data, sizeof r->data);
  copy(&r->valid, &new.valid, sizeof new.valid);
#endif
  persist(r, sizeof *r);
  return 0;
}
