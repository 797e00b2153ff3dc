/* sort.c: see sort.h. A heap sort. */
#include "base/sort.h"

#include <string.h>

static void swap(char *a, char *b, size_t size) {
  char held[NVMI_SORT_BYTES];
  memcpy(held, a, size);
  memcpy(a, b, size);
  memcpy(b, held, size);
}

/* The item at `at` sinks below all that are larger. */
static void sink(char *items, size_t at, size_t count, size_t size,
                 int (*compare)(const void *, const void *)) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0)
      child++;
    if (compare(items + at * size, items + child * size) >= 0)
      return;
    swap(items + at * size, items + child * size, size);
  }
}

void nvmi_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  for (size_t at = count / 2; at-- > 0;)
    sink(items, at, count, size, compare);
  for (size_t end = count; end-- > 1;) {
    swap(items, (char *)items + end * size, size);
    sink(items, 0, end, size, compare);
  }
}
