/* thread_end.h: the end of a thread (core/thread.c calls it as nvmi_thread_ends). */
#pragma once

#include "core/thread.h"

/* What the thread has open is what nobody ends, as a function of a port's `end` was entered (core/root_hooks.h). Tells
 * once where the thread did not enter it itself. */
bool nvmi_tx_stays_open(const struct nvmi_thread *thread);
/* False: the thread's state stays, with what is open. */
bool nvmi_tx_thread_ends(struct nvmi_thread *thread);
