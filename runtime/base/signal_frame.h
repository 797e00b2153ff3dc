/* signal_frame.h: whether the calling code runs in a signal handler. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Once, not in a signal handler, before the first question. */
void nvmi_signal_frame_prepare(void);
/* Looks through the frames above; costs a microsecond or a few, where code has no unwind tables
 * some hundred. Async-signal-safe. */
bool nvmi_in_signal_handler(void);
/* The stack pointer of what the calling handler has interrupted; 0: not known. */
uintptr_t nvmi_interrupted_stack(void);
