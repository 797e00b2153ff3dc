/* checksum.h: the one checksum of the format: XXH3, 64 bits, seeded. */
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Not inlined: it is long. */
static __attribute__((noinline, unused)) uint64_t nvmi_check(const void *data, size_t size,
                                                             uint64_t seed) {
  return XXH3_64bits_withSeed(data, size, seed);
}
