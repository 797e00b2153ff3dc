/* bits.h: bits of a word that a thread and its signal handlers set and clear. One instruction each: a
 * handler that comes between a load and its store would lose its bit. Other threads are not ordered. */
#pragma once

#include <stdint.h>

static inline void nvmi_bits_set(uint64_t *word, uint64_t bits) {
  __asm__("orq %1, %0" : "+m"(*word) : "r"(bits) : "cc");
}

static inline void nvmi_bits_clear(uint64_t *word, uint64_t bits) {
  __asm__("andq %1, %0" : "+m"(*word) : "r"(~bits) : "cc");
}
