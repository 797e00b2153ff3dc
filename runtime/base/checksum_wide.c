/* checksum_wide.c: the checksum of what is long, once more for processors that hold a line in a
 * register. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_VECTOR 3 /* XXH_AVX512, a name that the header gives only below */
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#include "base/checksum.h"

uint64_t nvmi_check_wide(const struct nvmi_key *key, const void *data, size_t size) {
  return XXH3_64bits_withSecretandSeed(data, size, key->secret, sizeof key->secret, key->seed);
}
#pragma clang attribute pop
