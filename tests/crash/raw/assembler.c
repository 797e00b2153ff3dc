// Flushes and fences as inline assembler has them, also before processors knew their names.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

struct file {
  _Alignas(64) long a;
  _Alignas(64) long b;
  _Alignas(64) long c;
};

static void clflush(const void *at) { __asm__ volatile("clflush %0" : "+m"(*(volatile char *)at)); }
static void clflushopt(const void *at) {
  __asm__ volatile(".byte 0x66; clflush %0" : "+m"(*(volatile char *)at));
}
static void sfence(void) { __asm__ volatile("sfence" ::: "memory"); }
static void locked(void) { __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory"); }

int main(int argc, char **argv) {
  struct file *f = map_file(argv, sizeof *f);
  if (argc > 2)
    return f->b > f->a ? wrong("b without a", f->b) : f->c > f->b ? wrong("c without b", f->c) : 0;
  for (long i = 1; i < 4; i++) {
    f->a = i;
    clflush(&f->a); // needs no fence
    f->b = i;       // FOUND: checker
    clflushopt(&f->b);
#ifndef BUG
    i == 2 ? locked() : sfence();
#endif
    f->c = i;
    clflushopt(&f->c);
    sfence();
  }
  return 0;
}
