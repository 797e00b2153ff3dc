/* sealed.h: a line whose bytes were taken when a lock that guards them was released (order/order.h).
 */
#pragma once

#include "nvmove/abi.h"

#include <stddef.h>
#include <stdint.h>

struct nvmi_sealed {
  uint64_t line, mask, sequence; /* later bytes replace earlier ones */
  char bytes[64];
};

/* In place of the sequence: the bytes are an alias (alias.h), newer than all that was sealed. */
#define NVMI_ALIASED (UINT64_MAX - 1)

/* Puts those bytes of the line that lie in [start, end) where `to`, the copy of the byte at `start`,
 * has them. */
static inline void nvmi_sealed_read(const struct nvmi_sealed *sealed, char *to, uintptr_t start,
                                    uintptr_t end) {
  uintptr_t first = sealed->line * NVM_LINE_SIZE;
  for (uint64_t left = sealed->mask; left; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    if (first + i >= start && first + i < end)
      to[first + i - start] = sealed->bytes[i];
  }
}
