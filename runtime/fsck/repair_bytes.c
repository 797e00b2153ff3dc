/* repair_bytes.c: a checksum of 64 bits that fails says which byte is wrong, if only one is: no
 * other change of one byte makes it hold, but for one chance in 2^64 divided by the tries.
 */
#include "fsck/repair.h"

enum { BYTES_MAX = 4096 }; /* longer ones take too long: each try sums up all of them */

long long nvmi_mend_byte(void *bytes, size_t size, nvmi_holds *holds, void *context) {
  unsigned char *at = bytes;
  for (size_t i = 0; i < size && size <= BYTES_MAX; i++) {
    unsigned char before = at[i];
    for (unsigned change = 1; change < 256; change++) {
      at[i] = (unsigned char)(before ^ change);
      if (holds(context))
        return (long long)i;
    }
    at[i] = before;
  }
  return -1;
}

unsigned nvmi_bytes_changed(uint64_t a, uint64_t b) {
  unsigned changed = 0;
  for (uint64_t left = a ^ b; left; left >>= 8)
    changed += (left & 0xff) != 0;
  return changed;
}
