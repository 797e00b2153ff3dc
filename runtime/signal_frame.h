/* signal_frame.h: whether the calling code runs in a signal handler. */
#pragma once

#include <stdbool.h>

/* Once, not in a signal handler, before the first question. */
void nvmi_signal_frame_prepare(void);
/* Looks through the frames above; costs a microsecond or a few. Async-signal-safe. False where the
 * unwinder is missing. */
bool nvmi_in_signal_handler(void);
