// What is streamed to one line has no order until a fence.
// RUN: %raw %s
#include "raw.h"

struct file {
  _Alignas(64) long long data[3];
  long long flag;
};

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    for (int i = 0; i < 3; i++)
      if (f->flag && f->data[i] != 42)
        return wrong("flag without data", i);
    return 0;
  }
  _mm_stream_si64(&f->data[0], 42);
  _mm_stream_si64(&f->data[1], 42);
  _mm_stream_si64(&f->data[2], 42); // FOUND: checker
#ifdef BUG
  __asm__ volatile("" ::: "memory"); // for the compiler only
#else
  fence();
#endif
  _mm_stream_si64(&f->flag, 1);
  fence();
  return 0;
}
