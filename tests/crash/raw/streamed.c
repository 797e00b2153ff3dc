// Stores past the cache, which an sfence alone makes durable.
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct file {
  _Alignas(64) long long data[16];
  _Alignas(64) long long count;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    for (long i = 0; i < f->count; i++)
      if (f->data[i] != i + 7)
        return wrong("item", i);
    return f->count < acked(argv) ? wrong("count", (long)f->count) : 0;
  }
  for (long i = 0; i < 6; i++) {
    _mm_stream_si64(&f->data[i], i + 7); // FOUND: checker
#ifndef BUG
    fence();
#endif
    _mm_stream_si64(&f->count, i + 1);
    fence();
    acknowledge(i + 1);
  }
  return 0;
}
