// A pointer to a function of which the C library picks a variant for the processor (STT_GNU_IFUNC) holds
// after an update of that library: the variants have no names of their own.
// RUN: mkdir -p %t.updated && %python %s.py libc.so.6 %t.updated/libc.so.6 && %python %s.py libm.so.6 %t.updated/libm.so.6
// RUN: rm -f %t.pool && %cc -O1 %s -o %t.1 -lm && %t.1 %t.pool && %t.1 %t.pool
// RUN: env LD_LIBRARY_PATH=%t.updated %t.1 %t.pool && %t.1 %t.pool
// In a program that is not position-independent it leads to a stub of the program.
// RUN: %cc -O1 -fno-pie -no-pie %s -o %t.2 -lm && %t.2 %t.pool && env LD_LIBRARY_PATH=%t.updated %t.2 %t.pool
// RUN: rm -f %t.pool && %t.2 %t.pool && %t.1 %t.pool && env LD_LIBRARY_PATH=%t.updated %t.2 %t.pool
// Without processor features the library picks others, in the same build, too.
// RUN: env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-ERMS,-SSE4_2,-FMA %t.1 %t.pool && %t.1 %t.pool
#include "nvmove/nvmove.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct calls {
  int (*compare)(const char *, const char *);
  void *(*move)(void *, const void *, size_t); // memcpy may be the same variant, and not on the next processor
  double (*sine)(double);
  time_t (*now)(time_t *); // of the kernel's own library
};

int main(int argc, char **argv) {
  (void)argc;
  NVM_POOL *pool = nvm_pool_open(argv[1]);
  if (!pool && nvm_errno() == NVM_EMISSING) {
    pool = nvm_pool_create(argv[1], 1 << 20);
    nvm_tx_begin(pool);
    struct calls *made = nvm_calloc(pool, NVM_TYPE_ID(struct calls), 1, sizeof *made);
    *made = (struct calls){strcmp, memmove, sin, time};
    nvm_pool_set_root(pool, made);
    if (nvm_tx_commit(pool))
      return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  }
  if (!pool)
    return fprintf(stderr, "%s\n", nvm_strerror()), 2;
  const struct calls *calls = nvm_pool_root(pool);
  char text[] = "abcdef";
  calls->move(text + 1, text, 5);
  if (calls->compare != strcmp || calls->move != memmove || calls->sine != sin || calls->now != time)
    return fprintf(stderr, "bound to another function\n"), 3;
  if (calls->compare(text, "aabcde") != 0 || calls->sine(0) != 0 || calls->now(NULL) < 1)
    return fprintf(stderr, "wrong\n"), 4;
  return nvm_pool_close(pool);
}
