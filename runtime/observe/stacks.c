/* stacks.c: who allocated, as a number for each different chain of calls.
 *
 * Frames are followed by frame pointers, which --nvmove-observe keeps in the program's code. Code
 * without them (a library that calls back) ends the chain early; the innermost calls are right all
 * the same. A frame pointer is believed if it lies above the last one and below the stack's end.
 */
#define _GNU_SOURCE
#include "observe/stacks.h"

#include "observe/observe.h"

#include <string.h>

#define SLOTS (NVMI_OBSERVE_STACKS_MAX * 2)
#define FRAME_MAX (1u << 20) /* bytes of one frame */
#define RECURSION_MAX 3      /* functions that call each other */
#define STEPS_MAX 4096

extern void *__libc_stack_end; /* of the first thread */

static struct nvmi_observe_stack *stacks;
static uint32_t *slots, count;
static __thread char in_thread __attribute__((tls_model("initial-exec")));

/* The C library places a thread's own variables above its frames. */
uintptr_t nvmi_observe_frames_end(const void *frame) {
  uintptr_t own = (uintptr_t)&in_thread, first = (uintptr_t)__libc_stack_end;
  return own > (uintptr_t)frame && (first < (uintptr_t)frame || own < first) ? own : first;
}

bool nvmi_observe_is_first_thread(const void *frame) {
  return nvmi_observe_frames_end(frame) == (uintptr_t)__libc_stack_end;
}

/* A recursion is told once: its depth says nothing. */
static bool is_repeated(const uintptr_t *address, unsigned depth, uintptr_t next) {
  for (unsigned back = 1; back <= RECURSION_MAX && back <= depth; back++)
    if (address[depth - back] == next)
      return true;
  return false;
}

static unsigned walk(const void *frame, uintptr_t *address) {
  uintptr_t end = nvmi_observe_frames_end(frame), at = (uintptr_t)frame;
  unsigned depth = 0;
  for (unsigned steps = 0; steps < STEPS_MAX && depth < NVMI_OBSERVE_DEPTH &&
                           at % sizeof(uintptr_t) == 0 && at + 16 <= end;
       steps++) {
    const uintptr_t *words = (const uintptr_t *)at;
    if (!words[1])
      break;
    if (!is_repeated(address, depth, words[1]))
      address[depth++] = words[1];
    if (words[0] <= at || words[0] - at > FRAME_MAX)
      break;
    at = words[0];
  }
  return depth;
}

static uint64_t hash_of(const uintptr_t *address, unsigned depth) {
  uint64_t hash = depth;
  for (unsigned i = 0; i < depth; i++) {
    hash = (hash ^ address[i]) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

static void make_tables(void) {
  stacks = nvmi_observe_memory(NVMI_OBSERVE_STACKS_MAX * sizeof *stacks);
  slots = nvmi_observe_memory(SLOTS * sizeof *slots);
  count = 1; /* 0: all that found no place */
}

uint32_t nvmi_observe_stack(const void *frame) {
  uintptr_t address[NVMI_OBSERVE_DEPTH];
  unsigned depth = walk(frame, address);
  uint64_t hash = hash_of(address, depth);
  if (!stacks)
    make_tables();
  uint32_t slot = (uint32_t)(hash >> 32) % SLOTS;
  for (; slots[slot]; slot = (slot + 1) % SLOTS) {
    const struct nvmi_observe_stack *known = &stacks[slots[slot]];
    if (known->hash == hash && known->depth == depth &&
        memcmp(known->address, address, depth * sizeof *address) == 0)
      return slots[slot];
  }
  if (count == NVMI_OBSERVE_STACKS_MAX)
    return 0;
  struct nvmi_observe_stack *made = &stacks[count];
  made->hash = hash;
  made->depth = depth;
  memcpy(made->address, address, depth * sizeof *address);
  slots[slot] = count;
  return count++;
}

struct nvmi_observe_stack *nvmi_observe_stack_at(uint32_t number) { return &stacks[number]; }

uint32_t nvmi_observe_stack_count(void) { return count; }
