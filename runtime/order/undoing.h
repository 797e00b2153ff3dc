/* undoing.h: undoing a transaction that released locks before it ended.
 *
 * Who has taken over one of its locks may have read its bytes, and cannot commit (order.h); may
 * have written the same bytes, too, and is still at it. One truth of each byte: what it was before
 * the first of the transactions that are undone, whichever of them is undone last. Kept: a byte of
 * the transaction that a dependent has noted since. It stays as the dependent sees it, and comes
 * back when that is undone. Masks: a set of bytes, as lines with the bits of their bytes.
 */
#pragma once

#include "core/thread.h"

struct nvmi_masks {
  struct nvmi_array
      lines; /* struct nvmi_line, none of them a range; after nvmi_masks_sort by line */
};
void nvmi_masks_add(struct nvmi_masks *masks, uint64_t line, uint64_t mask);
void nvmi_masks_add_bytes(struct nvmi_masks *masks, uintptr_t start, uintptr_t end);
void nvmi_masks_sort(struct nvmi_masks *masks);
/* Which bytes of the line are in the set. */
uint64_t nvmi_masks_at(const struct nvmi_masks *masks, uint64_t line);

/* Of the transaction that is being undone; empty at all other times. Lines of memory addresses. */
extern struct nvmi_masks nvmi_kept;

/* Stops all others, until nvmi_undoing_end. */
void nvmi_undoing_stop(struct nvmi_thread *thread, uint64_t pools);

/* The thread's transaction in these pools (bits), with what joined it, is about to be undone: from
 * here until the end of that no other notes, commits or undoes anything. Dependents have what they
 * need to undo it, too. */
void nvmi_undoing_begin(struct nvmi_thread *thread, uint64_t pools);
void nvmi_undoing_end(struct nvmi_thread *thread);
