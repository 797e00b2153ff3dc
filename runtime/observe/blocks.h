/* blocks.h: blocks by address. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvmi_observe_block {
  uintptr_t start; /* 0: none; 1: one was here */
  size_t size;
  uint32_t stack;
  bool met, linked; /* by a point: it was there; it was linked */
  bool marked;      /* by the present point */
};

/* Under the lock. */
void nvmi_observe_made(const void *start, size_t size, uint32_t stack);
void nvmi_observe_freed(const void *start);
/* All blocks, by address; the caller gives `*memory` of `*bytes` back. */
struct nvmi_observe_block **nvmi_observe_sorted(size_t *count, size_t *bytes);
