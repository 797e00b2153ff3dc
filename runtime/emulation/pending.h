/* pending.h: lines of a thread that wait for a commit, in the model `cached`.
 *
 * Pending line: one that the thread has stored to since its last commit. It remembers which of its bytes were stored
 * to, what was in them before, and what is in them now. The commit charges the lines that need it. These do not:
 *
 *   a line of which the thread has freed every stored byte: nobody can read it any more;
 *   a line whose stored bytes are again what they were before: the durable ones are right.
 *
 * Memory of the program is not read: it may be gone. So what somebody else stores to the same bytes is not seen.
 *
 * A signal's handler that has interrupted one of these functions changes nothing: its stores are not charged.
 */
#pragma once

#include "emulation/spend.h"

/* What 8 bytes at most were, and are. */
struct nvmi_change {
  uint64_t before, now;
};

/* `size` bytes at `address` were stored. `change`: null: nobody knows, so they count as changed. Lines that are too many are written back; their commit follows with that of the others. */
void nvmi_pending_add(struct nvmi_charged *me, uint64_t address, uint64_t size,
                      const struct nvmi_change *change);
/* The lines that need it are written back as one commit, which began at `start` (ticks). */
void nvmi_pending_commit(struct nvmi_charged *me, uint64_t start);

/* Called by free for each block of the C library that this thread frees, while it is there. Null: nobody asks. */
extern void (*nvmi_block_freed)(const void *address, uint64_t size);
/* Asks. */
void nvmi_pending_watch(void);
