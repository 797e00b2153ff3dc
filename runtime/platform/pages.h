/* pages.h: pages of files on an ordinary disk (sync.h), as a thread remembers them until its next
 * fence, and as one sync is asked for them.
 */
#pragma once

#include "nvmove/abi.h"
#include "platform/sync.h"

#include <stdbool.h>
#include <stdint.h>

enum { NVMI_PAGE_SHIFT = 12, NVMI_PAGE = 1 << NVMI_PAGE_SHIFT, NVMI_RANGES_MAX = 64 };

/* Pages of one file, in one word: the first, how many, of which use of the file's number, that number.
 * 0: none. */
typedef uint64_t nvmi_pages;
enum {
  NVMI_FILE_BITS = 6,
  NVMI_USE_BITS = 8,
  NVMI_COUNT_BITS = 20,
  NVMI_OF_BITS = NVMI_FILE_BITS + NVMI_USE_BITS
};
_Static_assert(NVMI_SYNCED_MAX == 1 << NVMI_FILE_BITS, "a file's number fits");
_Static_assert(NVM_RANGE_SHIFT - NVMI_PAGE_SHIFT <= 64 - NVMI_COUNT_BITS - NVMI_OF_BITS,
               "the first page fits");

/* What one sync is to bring to the disk. */
struct nvmi_demand {
  bool whole;
  unsigned count;
  nvmi_pages pages[NVMI_RANGES_MAX];
};

static inline unsigned nvmi_file_in(nvmi_pages pages) { return pages & (NVMI_SYNCED_MAX - 1); }

static inline nvmi_pages nvmi_of_in(nvmi_pages pages) { return pages & ((1 << NVMI_OF_BITS) - 1); }

static inline uint64_t nvmi_count_in(nvmi_pages pages) {
  return pages >> NVMI_OF_BITS & ((UINT64_C(1) << NVMI_COUNT_BITS) - 1);
}

static inline uint64_t nvmi_first_in(nvmi_pages pages) {
  return pages >> (NVMI_OF_BITS + NVMI_COUNT_BITS);
}

static inline nvmi_pages nvmi_pages_from(uint64_t first, uint64_t end, nvmi_pages of) {
  return first << (NVMI_OF_BITS + NVMI_COUNT_BITS) | (end - first) << NVMI_OF_BITS | of;
}

/* Both, where they touch; 0: they lie apart, or are too many. */
static inline nvmi_pages nvmi_pages_joined(nvmi_pages a, nvmi_pages b) {
  uint64_t first = nvmi_first_in(a) < nvmi_first_in(b) ? nvmi_first_in(a) : nvmi_first_in(b);
  uint64_t end_a = nvmi_first_in(a) + nvmi_count_in(a), end_b = nvmi_first_in(b) + nvmi_count_in(b);
  uint64_t end = end_a > end_b ? end_a : end_b;
  if (nvmi_of_in(a) != nvmi_of_in(b) || end - first > nvmi_count_in(a) + nvmi_count_in(b) ||
      (end - first) >> NVMI_COUNT_BITS)
    return 0;
  return nvmi_pages_from(first, end, nvmi_of_in(a));
}
