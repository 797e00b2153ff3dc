/* progress.h: how far a pass over a whole pool is: nvm_set_progress (nvmove/inspect.h). */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

extern void (*_Atomic nvmi_progress_report)(void *context, uint64_t done, uint64_t total);
void nvmi_progress_tell(uint64_t done, uint64_t total);

/* Now and then; costs a load where nobody listens. */
static inline void nvmi_progress(uint64_t done, uint64_t total) {
  if (__builtin_expect(atomic_load_explicit(&nvmi_progress_report, memory_order_relaxed) != NULL,
                       0))
    nvmi_progress_tell(done, total);
}
