/* called.h: what functions that nobody instrumented may write, as long as they run. */
#pragma once

#include "core/thread.h"

/* What those that run at this moment may write is noted once more: a transaction has ended, or what
 * it noted was captured. */
void nvmi_note_called(struct nvmi_thread *thread);
/* A call that may write these bytes is about to be made; `frame` is at most its own. */
void nvmi_called_enter(struct nvmi_thread *thread, void *address, size_t size, const void *frame);
/* What they may write in a block that has become another, or larger where it is, is all of that. */
void nvmi_called_moved(struct nvmi_thread *thread, const void *from, size_t old_size, void *to,
                       size_t size);
/* Whether a frame is not on the stack of the code that runs, as far as that is known. */
bool nvmi_is_elsewhere(uintptr_t frame);
/* On that of the handler that runs, if it has one of its own (sigaltstack). */
bool nvmi_is_on_signal_stack(uintptr_t frame);
/* On that of the thread, not one of a signal handler or a coroutine. The first call of a thread allocates. */
bool nvmi_is_on_own_stack(uintptr_t frame);
/* Whether a jump from the frame `from` to a stack pointer leaves this frame. `from`: 0 where nobody knows. */
bool nvmi_is_left(uintptr_t frame, uintptr_t stack, uintptr_t from);
/* The same jump, or an exception, has left calls: they have ended. */
void nvmi_called_left(struct nvmi_thread *thread, uintptr_t stack, uintptr_t from);
