/* memory.h: memory of the runtime's own, from mmap: the program's malloc may be redirected into the pool.
 */
#pragma once

#include "base/likely.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Growable array of DRAM. */
struct nvmi_array {
  void *items;
  size_t count, room; /* items */
};

#define NVMI_HUGE_PAGE ((size_t)2 << 20) /* bytes */

/* Zeroed pages, given back by munmap; null: none left */
void *nvmi_dram_reserve(size_t size);
/* Addresses that begin at a huge page's; whole pages. Null: none left */
char *nvmi_reserve_aligned(size_t size, int protection);
/* As nvmi_dram_reserve for tables that are looked into here and there: huge pages, where the system
 * has them, so that a look into one does not cost a walk through page tables, too. */
void *nvmi_dram_reserve_huge(size_t size);
/* False when DRAM is exhausted. */
bool nvmi_array_grow(struct nvmi_array *array, size_t count, size_t item_size);
static inline bool nvmi_array_reserve(struct nvmi_array *array, size_t count, size_t item_size) {
  return NVMI_LIKELY(count <= array->room) || nvmi_array_grow(array, count, item_size);
}
static inline bool nvmi_array_push(struct nvmi_array *array, const void *item, size_t item_size) {
  if (!nvmi_array_reserve(array, array->count + 1, item_size))
    return false;
  memcpy((char *)array->items + array->count * item_size, item, item_size);
  __atomic_signal_fence(__ATOMIC_RELEASE); /* a handler may jump out of the store that lists this */
  array->count++;
  return true;
}
/* An empty array with the room of one that its thread keeps from use to use, which costs no call of the
 * system; and back. `kept->count` says that it is in use: then, as in a signal handler meanwhile, the
 * array has no room yet. What borrow gives is for the return. */
bool nvmi_array_borrow(struct nvmi_array *kept, struct nvmi_array *array);
void nvmi_array_return(struct nvmi_array *kept, struct nvmi_array *array, size_t item_size,
                       bool borrowed);
void nvmi_array_free(struct nvmi_array *array, size_t item_size);

/* DRAM that is given back all at once. */
struct nvmi_arena {
  struct nvmi_array blocks; /* void * */
  struct nvmi_array sizes;  /* size_t */
  size_t used;              /* of the last block */
};
/* Zeroed, aligned to 16. Null: out of memory. */
void *nvmi_arena_take(struct nvmi_arena *arena, size_t size);
void nvmi_arena_free(struct nvmi_arena *arena);
