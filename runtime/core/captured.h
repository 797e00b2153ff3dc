/* captured.h: a line whose bytes were taken when a lock that guards them was released (order/order.h).
 */
#pragma once

#include "nvmove/abi.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct nvmi_captured {
  uint64_t line, mask, sequence; /* later bytes replace earlier ones */
  char bytes[64];
};

/* The next sequence. */
uint64_t nvmi_capture_number(void);

/* In place of the sequence: the bytes are an alias (alias.h), newer than all that was captured. */
#define NVMI_ALIASED (UINT64_MAX - 1)

/* Puts those bytes of the line that lie in [start, end) where `to`, the copy of the byte at `start`,
 * has them. */
static inline void nvmi_captured_read(const struct nvmi_captured *captured, char *to,
                                      uintptr_t start, uintptr_t end) {
  uintptr_t first = captured->line * NVM_LINE_SIZE;
  uint64_t mask = captured->mask;
  if (start > first)
    mask &= UINT64_MAX << (start - first);
  if (end < first + NVM_LINE_SIZE)
    mask &= UINT64_MAX >> (first + NVM_LINE_SIZE - end);
  while (mask) { /* run by run */
    unsigned from = (unsigned)__builtin_ctzll(mask);
    uint64_t rest = ~(mask >> from);
    unsigned run = rest ? (unsigned)__builtin_ctzll(rest) : 64;
    memcpy(to + (ptrdiff_t)(first + from - start), captured->bytes + from, run);
    mask &= run + from < 64 ? UINT64_MAX << (from + run) : 0;
  }
}
