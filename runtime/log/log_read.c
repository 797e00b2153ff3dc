/* log_read.c: see log_read.h. */
#include "log/log_read.h"
#include "log/log.h"

#include "base/checksum.h"
#include "base/sort.h"
#include "core/log_state.h"
#include "log/redo.h"

#include <stdlib.h>
#include <string.h>

bool nvmi_each_segment(const struct nvm_pool *pool, unsigned slot, unsigned bank,
                       nvmi_visit_segment *visit, void *context) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  uint64_t at = slots[slot].bank[bank];
  for (unsigned position = 0; at; position++) {
    if (!nvmi_segment_valid(pool, at, slot, bank, position))
      return false;
    const struct nvm_segment *segment = (const void *)(pool->home + at);
    visit(context, segment);
    at = segment->next;
  }
  return true;
}

bool nvmi_frame_valid(const struct nvm_pool *pool, const struct nvm_frame *frame, uint64_t room) {
  return NVM_FRAME_KIND(frame) >= NVM_FRAME_UNDO && NVM_FRAME_KIND(frame) <= NVM_FRAME_VOID &&
         NVM_FRAME_LENGTH(frame) <= room - sizeof *frame &&
         (NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO ||
          NVM_FRAME_OPERATIONS(frame) + (NVM_FRAME_KIND(frame) == NVM_FRAME_COMMIT_CHECKED) <=
              NVM_FRAME_LENGTH(frame) / 8) &&
         frame->check == nvmi_check_by(&pool->key, &frame->transaction,
                                       sizeof *frame - 8 + NVM_FRAME_LENGTH(frame));
}

static int by_order(const void *a, const void *b) {
  const struct nvm_frame *x = *(const struct nvm_frame *const *)a,
                         *y = *(const struct nvm_frame *const *)b;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  unsigned part_x = NVM_FRAME_KIND(x) > NVM_FRAME_REDO ? UINT16_MAX : NVM_FRAME_COUNT(x);
  unsigned part_y = NVM_FRAME_KIND(y) > NVM_FRAME_REDO ? UINT16_MAX : NVM_FRAME_COUNT(y);
  return part_x < part_y ? -1 : part_x > part_y;
}

void nvmi_frames_sort(struct nvmi_array *frames) {
  if (frames->count)
    nvmi_sort(frames->items, frames->count, sizeof(void *), by_order);
}

bool nvmi_undo_frame(struct nvm_pool *pool, const struct nvm_frame *frame) {
  if (!nvmi_in_view(pool, frame->offset, NVM_FRAME_LENGTH(frame)))
    return false;
  /* A damaged one may name the log itself. */
  memmove(pool->home + frame->offset, frame + 1, NVM_FRAME_LENGTH(frame));
  pool->persist->flush(pool->home + frame->offset, NVM_FRAME_LENGTH(frame));
  return true;
}

void nvmi_undo_entry(void *pool, const struct nvm_frame *frame) {
  if (!nvmi_undo_frame(pool, frame))
    nvmi_die(((struct nvm_pool *)pool)->path, "the log was overwritten while it was in use");
}

void nvmi_own_entries(const struct nvmi_log *log, nvmi_visit_entry *visit, void *context) {
  const struct nvmi_cursor *cursor = log->cursor;
  unsigned bank = cursor->transaction & 1;
  const struct nvm_segment *segment = log->first[bank];
  for (unsigned position = 0;; position++) {
    if (!nvmi_segment_valid(log->pool, (uint64_t)((const char *)segment - log->pool->home),
                            log->slot, bank, position))
      nvmi_die(log->pool->path, "the log was overwritten while it was in use");
    uint64_t end = segment == cursor->segment ? cursor->at : segment->size;
    for (uint64_t at = sizeof *segment; at < end;) {
      const struct nvm_frame *frame = (const void *)((const char *)segment + at);
      bool fits = frame->transaction >> 16 == cursor->transaction &&
                  nvmi_frame_valid(log->pool, frame, segment->size - at);
      if (fits && NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO)
        visit(context, frame);
      at += fits ? (sizeof *frame + NVM_FRAME_LENGTH(frame) + NVM_FRAME_ALIGN - 1) &
                       ~(uint64_t)(NVM_FRAME_ALIGN - 1)
                 : NVM_FRAME_ALIGN;
    }
    if (segment == cursor->segment)
      return;
    segment = (const void *)(log->pool->home + segment->next);
  }
}

static void keep_entry(void *log, const struct nvm_frame *frame) {
  if (!nvmi_array_push(&((struct nvmi_log *)log)->entries, &frame, sizeof frame))
    nvmi_die(((struct nvmi_log *)log)->pool->path, "out of memory for the end of a transaction");
}

void nvmi_each_entry(struct nvmi_log *log, nvmi_visit_entry *visit, void *context) {
  log->entries.count = 0;
  nvmi_own_entries(log, keep_entry, log);
  nvmi_frames_sort(&log->entries);
  for (size_t i = log->entries.count; i-- > 0;)
    visit(context, ((const struct nvm_frame **)log->entries.items)[i]);
}
