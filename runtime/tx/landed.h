/* landed.h: atomic calls that a jump leaves. */
#pragma once

#include "core/thread.h"

/* Atomic calls whose frames lie below this address of the same stack are left by a jump: they end as by a return. Where
 * the jump leaves libnvmove, too, they end when that is known (nvmi_tx_left). */
void nvmi_tx_left_below(struct nvmi_thread *thread, uintptr_t stack);
