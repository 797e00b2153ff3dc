// A process that maps very much may get ordinary memory where pools lie, as long as it has none: it is ordinary.
// RUN: %cc -O1 %s -o %t
// RUN: %t
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE = 64 << 20 };
#define RANGE_END ((uintptr_t)0x1fb << 38)

static void *map(size_t size) {
  return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int main(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  uintptr_t lowest = (uintptr_t)map(LARGE); // the next one lies below
  if (lowest < RANGE_END || map(lowest - RANGE_END + (1 << 20)) == MAP_FAILED)
    return 1;
  char *block = malloc(LARGE);
  if ((uintptr_t)block >> 38 != 0x1fa) {
    printf("%p is not in the range\n", (void *)block);
    return 1;
  }
  strcpy(block, "text");
  memset(block + 5, 7, 100);
  block = realloc(block, 2 * LARGE);
  if ((uintptr_t)block >> 38 != 0x1fa || strcmp(block, "text") || malloc_usable_size(block) < 2 * LARGE)
    return 2;
  free(block);
  return 0;
}
