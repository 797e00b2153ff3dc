// What no flush follows, what no fence follows, and what is flushed in vain: without any checker's help.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

int main(int argc, char **argv) {
  long *words = map_file(argv, 4096);
  if (argc > 2)
    return 0;
  words[0] = 1;
  persist(&words[0], sizeof *words);
#ifdef BUG
  words[8] = 2; // FOUND: never flushed
  words[16] = 3;
  _mm_clflush(&words[0]); // FOUND: redundant flush
  words[32] = 4;
  __asm__ volatile("clflushopt %0" : "+m"(words[32])); // FOUND: never fenced
#else
  words[8] = 2;
  flush(&words[8], sizeof *words);
#endif
  _mm_clflush(&words[16]);
#ifndef BUG
  fence();
#endif
  return 0;
}
