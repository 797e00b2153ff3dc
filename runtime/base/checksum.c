/* checksum.c: the checksum of what is long, on any processor. */
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"

uint64_t nvmi_check_narrow(const struct nvmi_key *key, const void *data, size_t size) {
  return XXH3_64bits_withSecretandSeed(data, size, key->secret, sizeof key->secret, key->seed);
}
