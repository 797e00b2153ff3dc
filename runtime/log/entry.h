/* entry.h: an undo entry: the old bytes of a range, appended before they are overwritten. Inline,
 * for the reason that log.h gives. */
#pragma once

#include "core/log_state.h"
#include "core/thread.h"
#include "log/log.h"

#include <string.h>

/* Entries whose place is known: the first ones. A handler may add more at any moment than there is room
 * for; what was made of the first is of no use then (methods/undo.c). */
static inline unsigned nvmi_known_ranges(const struct nvmi_log *log) {
  unsigned count = log->undo.range_count;
  return count < NVMI_CHECKED_MAX ? count : NVMI_CHECKED_MAX;
}

/* The frame's last line is zero behind the payload already. */
static inline __attribute__((always_inline)) void
nvmi_entry_put(struct nvmi_log *log, struct nvm_frame *frame, const char *address, uint32_t size) {
  uint64_t place = nvmi_offset(log->pool, address);
  frame->offset = place;
  uint64_t fenced = log->cursor->fenced;
  unsigned next = log->undo.committing ? 0 : NVM_UNDO_NEXT;
  frame->shape = NVM_FRAME_SHAPE(NVM_FRAME_UNDO, NVM_UNDO_OPERATIONS(next, fenced), size);
  if (size == 8)
    memcpy(frame + 1, address, 8);
  else
    memcpy(frame + 1, address, size);
  unsigned range = log->undo.range_count++;
  if (range < NVMI_CHECKED_MAX) {
    log->undo.ranges[range].offset = place;
    log->undo.ranges[range].size = size;
  }
  frame->order = nvmi_log_order(log, nvmi_solo_enter(log));
  nvmi_solo_leave(log);
  if (NVMI_UNLIKELY(!nvmi_log_put(log, log->cursor, frame, (uint16_t)fenced,
                                  log->owner->busy > 1 ? 0 : NVMI_ROOM_FOR_NESTED)))
    nvmi_log_cannot_grow(log);
}

static inline __attribute__((always_inline)) void
nvmi_entry_put_short(struct nvmi_log *log, const void *address, uint32_t size) {
  _Alignas(NVM_FRAME_ALIGN) char line[NVM_FRAME_ALIGN];
  memset(line + sizeof(struct nvm_frame), 0, NVM_FRAME_ROOM);
  nvmi_entry_put(log, (struct nvm_frame *)line, address, size);
}
