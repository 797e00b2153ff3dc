/* log_end.c: what proves that a log ends where its last whole frame is, and was not damaged there.
 *
 * A frame that does not check may be one that a crash tore: then nobody waited for it, and nothing
 * that follows from it was done. Or it was whole once, and is damaged: then what it says is
 * missing, and a pool opened without it is torn. Frames tell one from the other, as each says, or
 * implies, what was durable when it was appended.
 *
 * Undo: a frame says how many of its transaction's frames had been fenced, and a RETIRED one that
 * the commit record was. An open transaction that is not its log's first proves that the record of the one
 * before is there (recover.c). Shadow: a record is
 * fenced before its log's next one is begun, which has the next number and lies behind it, or at
 * the start of the other bank; from there back all are in place (checkpoint.h). So in the bank with the
 * newest record the numbers lead back without a gap to the bank's start. If the newest lacks its
 * beginning and the one before it is not there, it was torn at the bank's start: then the other
 * bank ends with the one before, whole, or there is no other record at all.
 *
 * A slot or a link that is lost hides segments. Both banks of a slot are linked, and fenced, before
 * a frame is written; the link to a further segment shares the fence of the first frames behind it.
 * So what lies in a segment that no chain leads to was lost, unless a crash before that one fence
 * explains it. Links are cut only when the header says that the logs are empty.
 *
 * What is not told: damage to a log's very last frame, or frames that shared its fence, looks like
 * a crash before that fence; so does damage to several at once, up to the last.
 */
#include "log/log_end.h"

#include "log/log.h"
#include "log/log_read.h"

static const struct nvm_frame *frame_at(const struct nvmi_array *found, size_t i) {
  return ((const struct nvm_frame *const *)found->items)[i];
}

bool nvmi_entries_complete(const struct nvmi_array *found) {
  uint64_t fenced = 0, before = 0;
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = frame_at(found, i);
    if (NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO && NVM_FRAME_FENCED(frame) > fenced)
      fenced = NVM_FRAME_FENCED(frame);
    if (NVM_FRAME_KIND(frame) == NVM_FRAME_COMMIT_CHECKED)
      fenced = NVM_FRAME_COUNT(frame); /* behind all of them */
    if (NVM_FRAME_KIND(frame) == NVM_FRAME_RETIRED)
      return false; /* streamed behind the fence of the commit record that is missing */
  }
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = frame_at(found, i);
    before += NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO && NVM_FRAME_FENCED(frame) < fenced;
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

struct nvmi_records_end nvmi_records_end(const struct nvmi_array *found,
                                         const struct nvm_segment *first) {
  struct nvmi_records_end end = {.complete = true};
  struct group group, before;
  if (!found->count)
    return end;
  size_t at = group_before(found, found->count, first, &group); /* it may be torn */
  end.newest = group.number;
  end.whole = group.whole;
  end.only = !at;
  while (!group.is_first) {
    bool follows = at;
    if (at)
      at = group_before(found, at, first, &before);
    follows = follows && before.number == group.number - 1 && before.whole;
    end.alone = !follows && !end.whole && group.number == end.newest;
    if (!follows) {
      end.complete = end.alone;
      return end;
    }
    group = before;
  }
  return end;
}

bool nvmi_records_complete(const struct nvmi_records_end banks[2]) {
  const struct nvmi_records_end *newer = &banks[banks[1].newest > banks[0].newest];
  const struct nvmi_records_end *other = &banks[newer == banks];
  if (!newer->alone)
    return newer->complete;
  return other->newest ? other->newest == newer->newest - 1 && other->whole : newer->only;
}

static const struct nvm_frame *next_frame(const struct nvm_pool *pool,
                                          const struct nvm_segment *segment, uint64_t *at) {
  for (; *at < segment->size; *at += NVM_FRAME_ALIGN) {
    const struct nvm_frame *frame = (const void *)((const char *)segment + *at);
    if (frame->transaction >> 16 && nvmi_frame_valid(pool, frame, segment->size - *at)) {
      *at += NVM_FRAME_ALIGN;
      return frame;
    }
  }
  return NULL;
}

static bool share_a_fence(const struct nvm_frame *a, const struct nvm_frame *b) {
  bool undo = NVM_FRAME_KIND(a) == NVM_FRAME_UNDO, both = NVM_FRAME_KIND(b) == NVM_FRAME_UNDO;
  return a->transaction >> 16 == b->transaction >> 16 && undo == both &&
         (!undo || NVM_FRAME_FENCED(a) == NVM_FRAME_FENCED(b));
}

/* Frames in a segment that no chain leads to, which were durable. */
static bool had_durable_frames(const struct nvm_pool *pool, const struct nvm_segment *segment) {
  uint64_t at = sizeof *segment;
  const struct nvm_frame *first = next_frame(pool, segment, &at), *other;
  if (!first || !segment->position)
    return first;
  while ((other = next_frame(pool, segment, &at)))
    if (!share_a_fence(first, other))
      return true;
  return false;
}

static bool is_linked(const struct nvm_pool *pool, const struct nvm_segment *segment,
                      unsigned slots_used) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  if (segment->slot >= slots_used)
    return false;
  uint64_t at = slots[segment->slot].bank[segment->bank & 1];
  for (unsigned position = 0; at; position++) {
    if (at == segment->self)
      return true;
    if (position == segment->position ||
        !nvmi_segment_valid(pool, at, segment->slot, segment->bank, position))
      return false;
    at = ((const struct nvm_segment *)(pool->home + at))->next;
  }
  return false;
}

/* A table that leads astray is told when the heap is built; by then nothing was lost. */
bool nvmi_logs_complete(const struct nvm_pool *pool) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  unsigned used = 0, slot;
  while (used < NVM_SLOTS_MAX && slots[used].bank[0])
    used++;
  for (slot = used; slot < NVM_SLOTS_MAX && !slots[slot].bank[0] && !slots[slot].bank[1];)
    slot++;
  if (slot < NVM_SLOTS_MAX)
    return false;
  for (slot = 0; slot + 1 < used; slot++) /* a slot has both before the next one is used (log.c) */
    if (!slots[slot].bank[1])
      return false;
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    uint64_t at = nvmi_chunk_offset(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if (!count || count > chunks - chunk)
      return true;
    if ((word & 0xff) != NVM_CHUNK_LOG)
      continue;
    const struct nvm_segment *segment = (const void *)(pool->home + at);
    if (nvmi_segment_valid(pool, at, segment->slot, segment->bank, segment->position) &&
        !is_linked(pool, segment, used) && had_durable_frames(pool, segment))
      return false;
  }
  return true;
}
