/* A program's heap in the reserved range: linked with -Wl,--wrap=malloc and the like, so that the
 * recorder sees every write that the program makes to what it allocated. Blocks of powers of two with a
 * free list each; nothing is given back. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 16, CLASSES = 40 };

/* Thread-local, as the recorder's own state: never in memory that is watched. */
static _Thread_local char *heap_next, *heap_end;
static _Thread_local void *free_list[CLASSES];

static size_t class_of(size_t size) {
  size_t class = 5;
  while (((size_t)1 << class) < size + HEADER)
    class ++;
  return class;
}

void *__wrap_malloc(size_t size) {
  if (!heap_next) {
    heap_next = recorder_map(HEAP_SIZE);
    heap_end = heap_next + HEAP_SIZE;
  }
  size_t class = class_of(size);
  char *block = free_list[class];
  if (block) {
    memcpy(&free_list[class], block - 8, 8);
  } else {
    if ((size_t)(heap_end - heap_next) < (size_t)1 << class)
      return NULL;
    block = heap_next + HEADER;
    heap_next += (size_t)1 << class;
  }
  recorder_excuse(block - HEADER, HEADER);
  memcpy(block - HEADER, &class, sizeof class);
  return block;
}

void __wrap_free(void *block) {
  if (!block)
    return;
  size_t class;
  memcpy(&class, (char *)block - HEADER, sizeof class);
  recorder_excuse((char *)block - HEADER, HEADER);
  memcpy((char *)block - 8, &free_list[class], 8);
  free_list[class] = block;
}

void *__wrap_realloc(void *block, size_t size) {
  if (!block)
    return __wrap_malloc(size);
  size_t class;
  memcpy(&class, (char *)block - HEADER, sizeof class);
  if (class_of(size) <= class)
    return block;
  void *moved = __wrap_malloc(size);
  if (!moved)
    return NULL;
  size_t kept = ((size_t)1 << class) - HEADER;
  recorder_excuse(block, kept);
  recorder_excuse(moved, kept);
  memcpy(moved, block, kept);
  __wrap_free(block);
  return moved;
}

void *__wrap_calloc(size_t count, size_t size) {
  void *block = __wrap_malloc(count * size);
  if (block) {
    recorder_excuse(block, count * size);
    memset(block, 0, count * size);
  }
  return block;
}

size_t __wrap_malloc_usable_size(void *block) {
  size_t class;
  memcpy(&class, (char *)block - HEADER, sizeof class);
  return ((size_t)1 << class) - HEADER;
}

__attribute__((destructor)) static void finish(void) {
  if (heap_next && recorder_finish())
    _Exit(99);
}
