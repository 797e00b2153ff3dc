/* fresh.h: stores to larger blocks that the transaction allocated itself. */
#pragma once

#include "core/thread.h"

/* The block of those in which the bytes lie, widened to whole lines where a long store counts for
 * them; null: in none that is remembered. */
struct nvmi_fresh *nvmi_fresh_at(struct nvmi_thread *thread, uintptr_t *start, uintptr_t *end);
/* They are noted. */
void nvmi_fresh_mark(struct nvmi_thread *thread, struct nvmi_fresh *fresh, uintptr_t start,
                     uintptr_t end);
