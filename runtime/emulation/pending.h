/* pending.h: lines of a thread that wait for a commit, in the model `cached`.
 *
 * Pending line: one that the thread has stored to since its last commit. It remembers which of its bytes were stored
 * to, and what was in them before. The commit charges the lines that need it. These do not:
 *
 *   a line of which every stored byte was freed: nobody can read it any more;
 *   a line whose stored bytes are again what they were before: the durable ones are right.
 *
 * Comparing reads memory that the program may have given back. So nothing is compared unless each free of the
 * process comes by (interpose/interpose.h), and a block that is moved counts as changed.
 */
#pragma once

#include "emulation/spend.h"

/* `size` bytes at `address` are about to be stored. Lines that are too many are written back, without a commit.
 * For no signal's handler that has interrupted a function of this header. */
void nvmi_pending_add(struct nvmi_charged *me, uint64_t address, uint64_t size);
/* The lines that need it are written back as one commit, which began at `start` (ticks). As above. */
void nvmi_pending_commit(struct nvmi_charged *me, uint64_t start);

/* This thread frees `size` bytes at `address`, or `moves`: somebody may have them elsewhere. */
void nvmi_pending_freed(const void *address, uint64_t size, bool moves);

/* The same, called by free and realloc for each block of the C library, and the like. Null: nobody asks for it. */
extern void (*nvmi_block_goes)(const void *address, uint64_t size, bool moves);
/* Asks for it. */
void nvmi_pending_watch(void);
