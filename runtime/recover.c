/* recover.c: replays what committed, undoes what did not.
 *
 * Reads every bank of every log: the frames of its newest transaction. A transaction with a whole
 * commit record is replayed if its order is not below the highest bound (or the floor); one without
 * is undone. Replay goes forwards by order, undo backwards, over all logs. Every step stores bytes
 * taken from the log, and the log stays until the generation grows: so a crash in here is followed
 * by the same again. All stores are made through `home`; a private view of the file has no pages of
 * its own yet.
 */
#include "recover.h"

#include "checksum.h"
#include "kill.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

struct frames {
  struct nvmi_array list; /* const struct nvm_frame * */
};

static const struct nvm_frame **items(const struct nvmi_array *list) { return list->items; }

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

static bool frame_valid(const struct nvm_pool *pool, const struct nvm_frame *frame, uint64_t room) {
  return NVM_FRAME_KIND(frame) >= NVM_FRAME_UNDO && NVM_FRAME_KIND(frame) <= NVM_FRAME_COMMIT &&
         NVM_FRAME_LENGTH(frame) <= room - sizeof *frame &&
         NVM_FRAME_OPERATIONS(frame) <= NVM_FRAME_LENGTH(frame) / 8 &&
         frame->check == nvmi_check(&frame->transaction,
                                    sizeof *frame - 8 + NVM_FRAME_LENGTH(frame), pool->check_seed);
}

struct scan {
  const struct nvm_pool *pool;
  uint64_t transaction; /* newest seen so far, or the one wanted */
  bool only_wanted;
  struct nvmi_array *found;
};

/* Tries every line: an unfinished frame does not hide those behind it. A frame of the newest
 * transaction hides nothing, so its payload is skipped. */
static void scan_segment(void *context, const struct nvm_segment *segment) {
  struct scan *scan = context;
  uint64_t at = sizeof *segment;
  while (at < segment->size) {
    const struct nvm_frame *frame = (const void *)((const char *)segment + at);
    uint64_t transaction = frame->transaction >> 16;
    bool fits =
        scan->only_wanted ? transaction == scan->transaction : transaction >= scan->transaction;
    if (!fits || !transaction || !frame_valid(scan->pool, frame, segment->size - at)) {
      at += NVM_FRAME_ALIGN;
      continue;
    }
    if (transaction != scan->transaction)
      scan->found->count = 0;
    scan->transaction = transaction;
    if (!nvmi_array_push(scan->found, &frame, sizeof frame))
      nvmi_die(scan->pool->path, "out of memory for recovery");
    at += (sizeof *frame + NVM_FRAME_LENGTH(frame) + NVM_FRAME_ALIGN - 1) &
          ~(uint64_t)(NVM_FRAME_ALIGN - 1);
  }
}

static int by_order(const void *a, const void *b) {
  const struct nvm_frame *x = *(const struct nvm_frame *const *)a,
                         *y = *(const struct nvm_frame *const *)b;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  unsigned part_x = NVM_FRAME_KIND(x) == NVM_FRAME_COMMIT ? UINT16_MAX : x->transaction & 0xffff;
  unsigned part_y = NVM_FRAME_KIND(y) == NVM_FRAME_COMMIT ? UINT16_MAX : y->transaction & 0xffff;
  return part_x < part_y ? -1 : part_x > part_y;
}

static void sort(struct nvmi_array *list) {
  if (list->count)
    qsort(list->items, list->count, sizeof(void *), by_order);
}

static bool in_view(const struct nvm_pool *pool, uint64_t offset, uint64_t size) {
  uint64_t heap = pool->header.heap_offset, end = heap + pool->header.heap_size;
  return (offset >= heap && offset < end && size <= end - offset) ||
         (offset >= NVM_ROOT_OFFSET && offset + size <= NVM_ROOT_OFFSET + 4096);
}

static bool undo_frame(struct nvm_pool *pool, const struct nvm_frame *frame) {
  if (!in_view(pool, frame->place, NVM_FRAME_LENGTH(frame)))
    return false;
  memcpy(pool->home + frame->place, frame + 1, NVM_FRAME_LENGTH(frame));
  pool->persist->flush(pool->home + frame->place, NVM_FRAME_LENGTH(frame));
  return true;
}

void nvmi_undo_cursor(struct nvm_pool *pool, unsigned slot, uint64_t transaction) {
  struct nvmi_array found = {0};
  struct scan scan = {pool, transaction, true, &found};
  if (!nvmi_each_segment(pool, slot, transaction & 1, scan_segment, &scan))
    nvmi_die(pool->path, "the log was overwritten while it was in use");
  sort(&found);
  for (size_t i = found.count; i-- > 0;)
    if (NVM_FRAME_KIND(items(&found)[i]) == NVM_FRAME_UNDO && !undo_frame(pool, items(&found)[i]))
      nvmi_die(pool->path, "the log was overwritten while it was in use");
  nvmi_array_free(&found, sizeof(void *));
}

/* A line of a record: stores it in home. Gives the bytes it took, 0 when it makes no sense. */
static uint32_t redo_line(struct nvm_pool *pool, const char *at, uint32_t room) {
  uint64_t head, mask = 0;
  _Alignas(64) char bytes[64];
  if (room < 16)
    return 0;
  memcpy(&head, at, 8);
  uint32_t used = 8;
  if (head & NVM_LINE_BYTES) {
    memcpy(&mask, at + 8, 8);
    used = 16;
  } else {
    for (unsigned word = 0; word < 8; word++)
      if (head >> word & 1)
        mask |= UINT64_C(0xff) << (8 * word);
  }
  uint32_t count = (uint32_t)__builtin_popcountll(mask);
  if (!mask || room < used + count || !in_view(pool, head >> 16 << 6, 64))
    return 0;
  for (uint64_t left = mask; left; left &= left - 1)
    bytes[__builtin_ctzll(left)] = at[used++];
  pool->persist->store_line(pool->home + (head >> 16 << 6), bytes, mask);
  return (used + 7) & ~7u;
}

static bool redo_frame(struct nvm_pool *pool, const struct nvm_frame *frame) {
  const char *payload = (const char *)(frame + 1);
  uint32_t at = 0;
  for (; at < 8u * NVM_FRAME_OPERATIONS(frame); at += 8) {
    uint64_t operation;
    memcpy(&operation, payload + at, 8);
    if (!nvmi_apply_operation(pool, operation))
      return false;
  }
  while (at < NVM_FRAME_LENGTH(frame)) {
    uint32_t used = redo_line(pool, payload + at, NVM_FRAME_LENGTH(frame) - at);
    if (!used)
      return false;
    at += used;
  }
  return true;
}

struct work {
  struct nvmi_array redo, undo; /* const struct nvm_frame * */
  uint64_t bound;
};

/* Where the commit record of a bank's frames is whole: its frame. */
static const struct nvm_frame *whole_record(const struct nvmi_array *found) {
  const struct nvm_frame *commit = NULL;
  uint64_t parts = 0;
  for (size_t i = 0; i < found->count; i++) {
    commit = NVM_FRAME_KIND(items(found)[i]) == NVM_FRAME_COMMIT ? items(found)[i] : commit;
    parts += NVM_FRAME_KIND(items(found)[i]) == NVM_FRAME_REDO;
  }
  return commit && (commit->transaction & 0xffff) == parts ? commit : NULL;
}

static bool read_bank(struct nvm_pool *pool, struct work *work, unsigned slot, unsigned bank,
                      struct nvmi_array *found) {
  struct scan scan = {pool, 1, false, found};
  found->count = 0;
  if (!nvmi_each_segment(pool, slot, bank, scan_segment, &scan))
    return false;
  const struct nvm_frame *commit = whole_record(found);
  if (commit && commit->place > work->bound)
    work->bound = commit->place;
  for (size_t i = 0; i < found->count; i++) {
    const struct nvm_frame *frame = items(found)[i];
    bool is_undo = NVM_FRAME_KIND(frame) == NVM_FRAME_UNDO;
    if (commit ? is_undo || !frame->order : !is_undo)
      continue;
    if (!nvmi_array_push(is_undo ? &work->undo : &work->redo, &frame, sizeof frame))
      nvmi_die(pool->path, "out of memory for recovery");
  }
  return true;
}

static bool apply(struct nvm_pool *pool, struct work *work) {
  sort(&work->redo);
  sort(&work->undo);
  for (size_t i = 0; i < work->redo.count; i++) {
    if (items(&work->redo)[i]->order < work->bound)
      continue;
    if (!redo_frame(pool, items(&work->redo)[i]))
      return false;
    pool->recovered_redone++;
    nvmi_step(NVMI_STEP_RECOVER);
  }
  for (size_t i = work->undo.count; i-- > 0;) {
    if (!undo_frame(pool, items(&work->undo)[i]))
      return false;
    pool->recovered_undone++;
    nvmi_step(NVMI_STEP_RECOVER);
  }
  return true;
}

int nvmi_recover(struct nvm_pool *pool) {
  struct work work = {0};
  struct nvmi_array found = {0};
  const struct nvm_floor *floor = (const void *)(pool->home + NVM_FLOOR_OFFSET);
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  if (floor->generation == pool->header.generation)
    work.bound = floor->order;
  bool sound = true;
  for (unsigned slot = 0; slot < NVM_SLOTS_MAX && slots[slot].bank[0] && sound; slot++)
    for (unsigned bank = 0; bank < 2 && sound; bank++)
      sound = read_bank(pool, &work, slot, bank, &found);
  sound = sound && apply(pool, &work);
  /* Crash before this fence: the same again. After: the header may move on. */
  pool->persist->fence();
  nvmi_array_free(&found, sizeof(void *));
  nvmi_array_free(&work.redo, sizeof(void *));
  nvmi_array_free(&work.undo, sizeof(void *));
  if (sound)
    return 0;
  return nvmi_fail(NVM_ECORRUPT, pool->path,
                   "the log is damaged; run nvm_pool_check, restore a copy");
}
