/* blocks.c: which blocks there are: a table by address, and a sorted list for a point. */
#include "observe/blocks.h"

#include "observe/observe.h"
#include "observe/stacks.h"

#include <string.h>

#define FIRST_SLOTS (1u << 12)
#define GONE 1
#define DIGIT_BITS 12 /* of an address of 48 bits: four passes */
#define DIGITS (1u << DIGIT_BITS)
#define PASSES 4

static struct nvmi_observe_block *table;
static size_t slots, used, alive; /* used: also those that are gone */

static size_t slot_of(uintptr_t start) {
  return (size_t)((start >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
}

static struct nvmi_observe_block *free_slot(uintptr_t start) {
  size_t at = slot_of(start);
  while (table[at].start > GONE)
    at = (at + 1) & (slots - 1);
  return &table[at];
}

static void grow(void) {
  struct nvmi_observe_block *old = table;
  size_t count = slots;
  slots = count ? (alive * 2 >= count / 2 ? count * 2 : count) : FIRST_SLOTS;
  table = nvmi_observe_memory(slots * sizeof *table);
  used = alive;
  for (size_t i = 0; i < count; i++)
    if (old[i].start > GONE)
      *free_slot(old[i].start) = old[i];
  if (old)
    nvmi_observe_give_back(old, count * sizeof *old);
}

static struct nvmi_observe_block *find(uintptr_t start) {
  if (!slots)
    return NULL;
  for (size_t at = slot_of(start); table[at].start; at = (at + 1) & (slots - 1))
    if (table[at].start == start)
      return &table[at];
  return NULL;
}

void nvmi_observe_made(const void *start, size_t size, uint32_t stack) {
  nvmi_observe_freed(start); /* of a call that the library does not know */
  if (used * 2 >= slots)
    grow();
  struct nvmi_observe_block *block = free_slot((uintptr_t)start);
  used += !block->start;
  *block = (struct nvmi_observe_block){(uintptr_t)start, size, stack, false, false, false};
  alive++;
  struct nvmi_observe_stack *of = nvmi_observe_stack_at(stack);
  of->size_min = of->made && of->size_min < size ? of->size_min : size;
  of->size_max = of->size_max > size ? of->size_max : size;
  of->made++;
  of->bytes += size;
  of->alive++;
}

void nvmi_observe_freed(const void *start) {
  struct nvmi_observe_block *block = find((uintptr_t)start);
  if (!block)
    return; /* from before the library was there */
  struct nvmi_observe_stack *of = nvmi_observe_stack_at(block->stack);
  of->alive--;
  if (block->linked)
    of->freed_linked++;
  else if (block->met)
    of->freed_unlinked++;
  else
    of->freed_early++;
  block->start = GONE;
  alive--;
}

/* By the digits of the address, the lowest first. */
static void sort(struct nvmi_observe_block **blocks, struct nvmi_observe_block **other,
                 size_t count) {
  for (unsigned pass = 0; pass < PASSES; pass++) {
    static size_t begins[DIGITS + 1];
    memset(begins, 0, sizeof begins);
    for (size_t i = 0; i < count; i++)
      begins[((blocks[i]->start >> pass * DIGIT_BITS) & (DIGITS - 1)) + 1]++;
    for (unsigned digit = 1; digit < DIGITS; digit++)
      begins[digit] += begins[digit - 1];
    for (size_t i = 0; i < count; i++)
      other[begins[(blocks[i]->start >> pass * DIGIT_BITS) & (DIGITS - 1)]++] = blocks[i];
    struct nvmi_observe_block **swap = blocks;
    blocks = other, other = swap;
  }
}

struct nvmi_observe_block **nvmi_observe_sorted(size_t *count, size_t *bytes) {
  *count = alive;
  *bytes = (alive * 2 + 1) * sizeof(struct nvmi_observe_block *);
  struct nvmi_observe_block **list = nvmi_observe_memory(*bytes);
  size_t found = 0;
  for (size_t i = 0; i < slots; i++)
    if (table[i].start > GONE)
      list[found++] = &table[i];
  sort(list, list + alive, alive); /* an even number of passes: it ends where it began */
  return list;
}
