/* pages.h: memory that can be read and was written to. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Calls `look` for the parts of [start, end) that can be read and were ever written to. What
 * lies in `copy` is the content of `at`; they may be the same. */
struct nvmi_observe_words {
  uintptr_t at;
  const volatile uintptr_t *copy;
  size_t count;
};
void nvmi_observe_read(uintptr_t start, uintptr_t end,
                       void (*look)(const struct nvmi_observe_words *words, void *context),
                       void *context);
