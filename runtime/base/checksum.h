/* checksum.h: the one checksum of the format: XXH3, 64 bits, seeded.
 *
 * What XXH3 derives from a seed for long inputs takes longer than the sum of a kilobyte. A key
 * keeps it.
 */
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

struct nvmi_key {
  _Alignas(64) char secret[XXH3_SECRET_DEFAULT_SIZE];
  uint64_t seed;
};

static inline void nvmi_key_set(struct nvmi_key *key, uint64_t seed) {
  key->seed = seed;
  XXH3_generateSecret_fromSeed(key->secret, seed);
}

/* Not inlined: it is long. */
static __attribute__((noinline, unused)) uint64_t nvmi_check(const void *data, size_t size,
                                                             uint64_t seed) {
  return XXH3_64bits_withSeed(data, size, seed);
}

/* The same sum as of nvmi_check(data, size, key->seed): with a line of data in a register, for
 * processors that have such; for any. More than XXH3_MIDSIZE_MAX bytes. */
uint64_t nvmi_check_wide(const struct nvmi_key *key, const void *data, size_t size);
uint64_t nvmi_check_narrow(const struct nvmi_key *key, const void *data, size_t size);

static __attribute__((noinline, unused)) uint64_t nvmi_check_by(const struct nvmi_key *key,
                                                                const void *data, size_t size) {
  if (__builtin_expect(size <= XXH3_MIDSIZE_MAX, 1))
    return XXH3_64bits_withSeed(data, size, key->seed);
  return __builtin_cpu_supports("avx512f") ? nvmi_check_wide(key, data, size)
                                           : nvmi_check_narrow(key, data, size);
}

/* One sum of several, in their order, begun with 0. */
static inline uint64_t nvmi_check_add(uint64_t sum, uint64_t next) {
  return (sum + next) * UINT64_C(0x9e3779b97f4a7c15);
}
