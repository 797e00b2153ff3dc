/* stacks.h: the calls that led to allocations. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NVMI_OBSERVE_DEPTH 40              /* calls of a stack that are kept, the innermost first */
#define NVMI_OBSERVE_STACKS_MAX (1u << 16) /* further ones are counted as the stack 0 */

/* Of all blocks that one stack has made. */
struct nvmi_observe_stack {
  uint64_t hash;
  uint64_t made, bytes;
  uint64_t freed_early;    /* before any point */
  uint64_t freed_unlinked; /* no point found it linked */
  uint64_t freed_linked;
  uint64_t alive, alive_max; /* now; at a point, the most */
  uint64_t linked;           /* at the last point */
  uint64_t linked_max;       /* at a point, the most */
  uint64_t size_min, size_max;
  uint64_t wait_first, wait_last; /* points that it made; 0: none */
  unsigned depth;
  uintptr_t address[NVMI_OBSERVE_DEPTH];
};

/* Under the lock. The stack's number; `frame`: of the function that was called first. */
uint32_t nvmi_observe_stack(const void *frame);
struct nvmi_observe_stack *nvmi_observe_stack_at(uint32_t number);
uint32_t nvmi_observe_stack_count(void);
/* The calling thread is the first one of the process. */
bool nvmi_observe_is_first_thread(const void *frame);
/* Where the calling thread's frames end. */
uintptr_t nvmi_observe_frames_end(const void *frame);
