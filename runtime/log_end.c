/* log_end.c: what proves that a log ends where its last whole frame is, and was not damaged there.
 *
 * A frame that does not check may be one that a crash tore: then nobody waited for it, and nothing
 * that follows from it was done. Or it was whole once, and is damaged: then what it says is
 * missing, and a pool opened without it is torn. Frames tell one from the other, as each says, or
 * implies, what was durable when it was appended.
 *
 * Undo: a frame says how many of its transaction's frames had been fenced. Shadow: a record is
 * fenced before its log's next one is begun, which has the next number and lies behind it, or at
 * the start of the other bank; from there back all are in place (settle.h). So in the bank with the
 * newest record the numbers lead back without a gap to the bank's start.
 *
 * What is not told: damage to a log's very last frame, or frames that shared its fence, looks like
 * a crash before that fence.
 */
#include "recover.h"

static const struct nvm_frame *frame_at(const struct nvmi_array *found, size_t i) {
  return ((const struct nvm_frame *const *)found->items)[i];
}

bool nvmi_entries_complete(const struct nvmi_array *found) {
  unsigned fenced = 0, before = 0;
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = frame_at(found, i);
    unsigned says = NVM_FRAME_COUNT(frame);
    if (NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO && says > fenced)
      fenced = says;
    if (NVM_FRAME_KIND(frame) == NVM_FRAME_COMMIT_CHECKED)
      fenced = says; /* behind all of them */
  }
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = frame_at(found, i);
    before += NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO && NVM_FRAME_COUNT(frame) < fenced;
  }
  return before >= fenced;
}

/* The frames of one record, of those before `end`; gives where they begin. */
struct group {
  uint64_t number;
  bool whole, is_first;
};

static size_t group_before(const struct nvmi_array *found, size_t end,
                           const struct nvm_segment *first, struct group *group) {
  uint64_t parts = 0, wanted = UINT64_MAX;
  *group = (struct group){.number = frame_at(found, end - 1)->transaction >> 16};
  for (; end && frame_at(found, end - 1)->transaction >> 16 == group->number; end--) {
    const struct nvm_frame *frame = frame_at(found, end - 1);
    parts += NVM_FRAME_KIND(frame) == NVM_FRAME_REDO;
    if (NVM_FRAME_KIND(frame) == NVM_FRAME_COMMIT)
      wanted = frame->order ? NVM_FRAME_COUNT(frame) : UINT64_MAX - 1;
    group->is_first = group->is_first || frame == (const struct nvm_frame *)(first + 1);
  }
  group->whole = wanted == parts || wanted == UINT64_MAX - 1;
  return end;
}

bool nvmi_records_complete(const struct nvmi_array *found, const struct nvm_segment *first) {
  struct group group, before;
  if (!found->count)
    return true;
  size_t end = group_before(found, found->count, first, &group); /* it may be torn */
  while (!group.is_first) {
    if (!end)
      return false;
    end = group_before(found, end, first, &before);
    if (before.number != group.number - 1 || !before.whole)
      return false;
    group = before;
  }
  return true;
}
