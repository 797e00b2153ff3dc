// A locked instruction orders the flushes before it, also before its own store.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

#include <stdatomic.h>

struct file {
  _Alignas(64) long data[4];
  _Alignas(64) _Atomic long flag[4];
};

static void lock_xchg(_Atomic long *flag) {
  long one = 1;
  __asm__ volatile("xchgq %0, %1" : "+r"(one), "+m"(*flag));
}

static void publish(struct file *f, int i) {
#ifdef BUG
  atomic_store_explicit(&f->flag[i], 1, memory_order_release);
#else
  long none = 0;
  if (i == 0)
    atomic_store(&f->flag[i], 1);
  else if (i == 1)
    atomic_compare_exchange_strong(&f->flag[i], &none, 1);
  else if (i == 2)
    atomic_fetch_add(&f->flag[i], 1);
  else
    lock_xchg(&f->flag[i]);
#endif
}

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2) {
    for (int i = 0; i < 4; i++)
      if (f->flag[i] && f->data[i] != 42)
        return wrong("published without data:", i);
    return 0;
  }
  for (int i = 0; i < 4; i++) {
    f->data[i] = 42; // FOUND: checker
    flush(&f->data[i], sizeof f->data[i]);
    publish(f, i);
    persist((void *)&f->flag[i], sizeof f->flag[i]);
  }
  return 0;
}
