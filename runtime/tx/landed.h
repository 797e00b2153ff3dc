/* landed.h: atomic calls that a jump leaves. */
#pragma once

#include "core/thread.h"

/* A jump from this frame to a stack pointer leaves the atomic calls whose frames lie between: they end as by a return.
 * Where the jump leaves libnvmove, too, they end when that is known (nvmi_tx_left). `from`: 0 where nobody knows. */
void nvmi_tx_left_below(struct nvmi_thread *thread, uintptr_t stack, uintptr_t from);
