/* sort.h: sorting without memory of its own. The C library's qsort may call malloc, which other
 * threads may have locked while they stand still (undoing.h). */
#pragma once

#include <stddef.h>

/* As qsort, of items of at most NVMI_SORT_BYTES bytes; equal ones in any order. */
enum { NVMI_SORT_BYTES = 96 };
void nvmi_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
