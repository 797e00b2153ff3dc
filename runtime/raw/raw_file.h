/* raw_file.h: the traced file. All but nvmi_raw_may_be_mapped and nvmi_raw_is_on with the lock NVMI_LOCK_TRACE. */
#pragma once

#include "base/own_locks.h"
#include "raw/raw.h"
#include <stdatomic.h>

/* No mapping lies outside of these, or ever did. */
extern _Atomic uintptr_t nvmi_raw_lowest, nvmi_raw_highest;
static inline bool nvmi_raw_may_be_mapped(const void *address) {
  return (uintptr_t)address >= atomic_load_explicit(&nvmi_raw_lowest, memory_order_relaxed) &&
         (uintptr_t)address < atomic_load_explicit(&nvmi_raw_highest, memory_order_relaxed);
}
/* There is a trace, and it goes on. */
bool nvmi_raw_is_on(void);
extern char *nvmi_raw_view;
/* The first part of [*at, end) that is mapped, with its place in the file; moves `at` behind it.
 * False: nothing is left. */
bool nvmi_raw_next(uintptr_t *at, uintptr_t end, uint64_t *place, size_t *length);
void nvmi_raw_each_mapping(void (*visit)(void *context, const void *start, size_t size),
                           void *context);
/* The file, or any of its file system. */
bool nvmi_raw_is_file(int fd, bool any);
/* How long it is, as far as the trace knows. */
uint64_t nvmi_raw_size(void);
