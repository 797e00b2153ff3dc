/* links.c: a point: all links, from variables and from the waiting thread's frames on. */
#define _GNU_SOURCE
#include "observe/links.h"

#include "observe/blocks.h"
#include "observe/edges.h"
#include "observe/modules.h"
#include "observe/observe.h"
#include "observe/pages.h"
#include "observe/stacks.h"

#define OFFSET_MAX 512u /* offsets from here on are one: it is an array */

struct sweep {
  struct nvmi_observe_block **blocks; /* by address */
  size_t count;
  struct nvmi_observe_block **work; /* linked, their own words not yet looked at */
  size_t waiting;
};

static struct nvmi_observe_block *block_at(const struct sweep *sweep, uintptr_t address) {
  size_t low = 0, high = sweep->count;
  if (!high || address < sweep->blocks[0]->start)
    return NULL;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    *(sweep->blocks[middle]->start <= address ? &low : &high) = middle;
  }
  struct nvmi_observe_block *found = sweep->blocks[low];
  return address - found->start < found->size || address == found->start ? found : NULL;
}

struct holder {
  struct sweep *sweep;
  char kind;
  uintptr_t from, start; /* of the edge: the word's holder; of the holder, its first word */
};

/* Another thread may store there at the same time, and a sanitizer need not hear of it. */
__attribute__((no_sanitize("address", "thread"))) static void
look(const struct nvmi_observe_words *words, void *context) {
  const struct holder *holder = context;
  struct sweep *sweep = holder->sweep;
  for (size_t i = 0; i < words->count; i++) {
    struct nvmi_observe_block *to = block_at(sweep, words->copy[i]);
    if (!to)
      continue;
    uintptr_t at = words->at + i * sizeof(uintptr_t), distance = at - holder->start;
    uint32_t offset = (uint32_t)(distance < OFFSET_MAX ? distance : OFFSET_MAX);
    nvmi_observe_edge(holder->kind, holder->kind == 'v' ? at : holder->from,
                      holder->kind == 'b' ? offset : 0, to->stack);
    if (!to->marked) {
      to->marked = true;
      sweep->work[sweep->waiting++] = to;
    }
  }
}

/* The words of [start, end) as links. */
static void look_at(struct sweep *sweep, char kind, uintptr_t from, uintptr_t start,
                    uintptr_t end) {
  struct holder holder = {sweep, kind, from, start};
  nvmi_observe_read(start, end, look, &holder);
}

static void follow_all(struct sweep *sweep) {
  while (sweep->waiting) {
    const struct nvmi_observe_block *block = sweep->work[--sweep->waiting];
    look_at(sweep, 'b', block->stack, block->start, block->start + block->size);
  }
}

static void look_at_variables(struct sweep *sweep) {
  size_t count;
  const struct nvmi_observe_part *parts = nvmi_observe_parts(&count);
  for (size_t i = 0; i < count; i++)
    if (parts[i].is_data)
      look_at(sweep, 'v', 0, parts[i].start, parts[i].end);
}

/* Frame by frame, each with the function's own return address: nothing but local variables. */
__attribute__((no_sanitize("address"))) static void look_at_frames(struct sweep *sweep,
                                                                   const void *frame) {
  uintptr_t end = nvmi_observe_frames_end(frame), at = (uintptr_t)frame;
  for (unsigned depth = 0;
       depth < NVMI_OBSERVE_DEPTH && at % sizeof(uintptr_t) == 0 && at + 16 <= end; depth++) {
    const uintptr_t *words = (const uintptr_t *)at;
    uintptr_t next = words[0];
    if (!words[1] || next <= at || next > end - 16 || next % sizeof(uintptr_t))
      break;
    look_at(sweep, 'f', words[1], at + 16, next);
    at = next;
  }
}

static void count_linked(const struct sweep *sweep) {
  for (uint32_t i = 0; i < nvmi_observe_stack_count(); i++) {
    struct nvmi_observe_stack *stack = nvmi_observe_stack_at(i);
    stack->linked = 0;
    stack->alive_max = stack->alive > stack->alive_max ? stack->alive : stack->alive_max;
  }
  for (size_t i = 0; i < sweep->count; i++) {
    struct nvmi_observe_block *block = sweep->blocks[i];
    block->met = true;
    block->linked |= block->marked;
    nvmi_observe_stack_at(block->stack)->linked += block->marked;
  }
  for (uint32_t i = 0; i < nvmi_observe_stack_count(); i++) {
    struct nvmi_observe_stack *stack = nvmi_observe_stack_at(i);
    stack->linked_max = stack->linked > stack->linked_max ? stack->linked : stack->linked_max;
  }
}

/* Variables before frames: a block that both lead to is the variable's. */
void nvmi_observe_follow(const void *frame, uint64_t point) {
  size_t bytes;
  struct sweep sweep = {.waiting = 0};
  sweep.blocks = nvmi_observe_sorted(&sweep.count, &bytes);
  sweep.work = sweep.blocks + sweep.count; /* as long as the list: each waits there once */
  for (size_t i = 0; i < sweep.count; i++)
    sweep.blocks[i]->marked = false;
  nvmi_observe_edges_begin(point);
  look_at_variables(&sweep);
  follow_all(&sweep);
  count_linked(&sweep);
  look_at_frames(&sweep, frame);
  follow_all(&sweep);
  nvmi_observe_edges_end();
  nvmi_observe_give_back(sweep.blocks, bytes);
}
