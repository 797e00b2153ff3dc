/* note_nested.h: the notes of a signal handler that has interrupted the runtime.
 *
 * The handler finds its thread `busy`: in a note, in the heap, or while a transaction ends. Its notes
 * leave the thread's table of lines alone, go into a list of their own, and append to the log within
 * the room that segments keep for them.
 */
#pragma once

#include "core/thread.h"

/* The bytes from `start` to `end` (addresses, one pool) are about to be stored. At most 1 KiB, and
 * some thousand lines a transaction; more ends the process (NVM_ELIMIT). */
void nvmi_note_nested(struct nvmi_thread *thread, struct nvm_pool *pool, uintptr_t start,
                      uintptr_t end);
