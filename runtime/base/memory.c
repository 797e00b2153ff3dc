/* memory.c: the runtime's own DRAM.
 *
 * Not from malloc: a port may redirect malloc into a pool, and notes are taken where a program may
 * be in the middle of its own malloc.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include "base/basics.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ARENA_BLOCK = 64 << 10 };

void *nvmi_dram_reserve(size_t size) {
  void *at =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

char *nvmi_reserve_aligned(size_t size, int protection) {
  char *at = mmap(NULL, size + NVMI_HUGE_PAGE, protection,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return NULL;
  size_t before = -(uintptr_t)at % NVMI_HUGE_PAGE;
  if (before)
    munmap(at, before);
  munmap(at + before + size, NVMI_HUGE_PAGE - before);
  return at + before;
}

void *nvmi_dram_reserve_huge(size_t size) {
  if (size < NVMI_HUGE_PAGE)
    return nvmi_dram_reserve(size);
  void *at = nvmi_reserve_aligned(size, PROT_READ | PROT_WRITE);
  if (at)
    madvise(at, size, MADV_HUGEPAGE);
  return at;
}

bool nvmi_array_grow(struct nvmi_array *array, size_t count, size_t item_size) {
  size_t bytes = (2 * count * item_size + PAGE - 1) & ~(size_t)(PAGE - 1);
  void *items = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (items == MAP_FAILED)
    return false;
  void *before = array->items;
  size_t room_bytes = array->room * item_size;
  if (before)
    memcpy(items, before, array->count * item_size);
  /* In this order a jump out of a signal handler leaves an array that is whole. */
  *(void *volatile *)&array->items = items;
  *(volatile size_t *)&array->room = bytes / item_size;
  if (before)
    munmap(before, (room_bytes + PAGE - 1) & ~(size_t)(PAGE - 1));
  return true;
}

void nvmi_array_free(struct nvmi_array *array, size_t item_size) {
  if (array->items)
    munmap(array->items, (array->room * item_size + PAGE - 1) & ~(size_t)(PAGE - 1));
  *array = (struct nvmi_array){0};
}

bool nvmi_array_borrow(struct nvmi_array *kept, struct nvmi_array *array) {
  *array = (struct nvmi_array){0};
  if (__atomic_exchange_n(&kept->count, 1, __ATOMIC_ACQUIRE))
    return false;
  array->items = kept->items;
  array->room = kept->room;
  return true;
}

void nvmi_array_return(struct nvmi_array *kept, struct nvmi_array *array, size_t item_size,
                       bool borrowed) {
  enum { KEPT_MAX = 1 << 20 }; /* bytes: more is seldom needed again */
  if (!borrowed || array->room * item_size > KEPT_MAX)
    nvmi_array_free(array, item_size);
  if (!borrowed)
    return;
  kept->items = array->items;
  kept->room = array->room;
  __atomic_store_n(&kept->count, 0, __ATOMIC_RELEASE);
}

static bool add_block(struct nvmi_arena *arena, size_t size) {
  void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return false;
  if (!nvmi_array_reserve(&arena->blocks, arena->blocks.count + 1, sizeof block) ||
      !nvmi_array_push(&arena->sizes, &size, sizeof size)) {
    munmap(block, size);
    return false;
  }
  nvmi_array_push(&arena->blocks, &block, sizeof block);
  arena->used = 0;
  return true;
}

void *nvmi_arena_take(struct nvmi_arena *arena, size_t size) {
  size = (size + 15) & ~(size_t)15;
  size_t count = arena->blocks.count;
  if (!count || arena->used + size > ((size_t *)arena->sizes.items)[count - 1]) {
    if (!add_block(arena, size > ARENA_BLOCK ? size : ARENA_BLOCK))
      return NULL;
    count++;
  }
  char *item = (char *)((void **)arena->blocks.items)[count - 1] + arena->used;
  arena->used += size;
  return item;
}

void nvmi_arena_free(struct nvmi_arena *arena) {
  for (size_t i = 0; i < arena->blocks.count; i++)
    munmap(((void **)arena->blocks.items)[i], ((size_t *)arena->sizes.items)[i]);
  nvmi_array_free(&arena->blocks, sizeof(void *));
  nvmi_array_free(&arena->sizes, sizeof(size_t));
  arena->used = 0;
}
