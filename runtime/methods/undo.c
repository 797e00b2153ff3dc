/* undo.c: the old bytes go to the log before the store (Breeze, section IV.C).
 *
 * Fences of a transaction with W notes: W, one for each entry before its store (stores in a row are
 * noted together and share one); one for the
 * new data; one for the commit record. In the process domain all of them are free. Heap operations
 * ride in the commit record and are stored in place after it; the next transaction's first fence
 * covers them (docs/pool-format.md, "Why two banks").
 */
#include "../checksum.h"
#include "../heap.h"
#include "../internal.h"
#include "../kill.h"
#include "../log.h"
#include "../recover.h"

#include <string.h>

enum { PIECE_MAX = 2048 - sizeof(struct nvm_frame) };

static void put_piece(struct nvmi_log *log, struct nvm_frame *frame, const char *address,
                      uint32_t size) {
  struct nvm_pool *pool = log->pool;
  frame->place = nvmi_offset(pool, address);
  frame->shape = NVM_FRAME_SHAPE(NVM_FRAME_UNDO, log->committing ? 0 : NVM_UNDO_NEXT, size);
  if (size == 8)
    memcpy(frame + 1, address, 8);
  else
    memcpy(frame + 1, address, size);
  if (log->range_count++ < NVMI_CHECKED_MAX) {
    log->ranges[log->range_count - 1].offset = frame->place;
    log->ranges[log->range_count - 1].size = size;
  }
  frame->order = nvmi_log_order(log, nvmi_solo_enter(log));
  nvmi_solo_leave(log);
  if (NVMI_UNLIKELY(!nvmi_log_put(log, log->cursor, frame, 0, log->owner->busy > 1)))
    nvmi_fatal(NVM_ENOSPACE, pool->path, "the undo log cannot grow: the pool or the disk is full");
}

/* Not inlined: the usual small entry must not pay for this frame's stack. */
static __attribute__((noinline)) void put_long(struct nvmi_log *log, const char *address,
                                               size_t size) {
  _Alignas(NVM_FRAME_ALIGN) char buffer[sizeof(struct nvm_frame) + PIECE_MAX];
  while (size) {
    uint32_t piece = size < PIECE_MAX ? (uint32_t)size : PIECE_MAX;
    put_piece(log, (struct nvm_frame *)buffer, address, piece);
    address += piece;
    size -= piece;
  }
}

static void undo_note(struct nvmi_log *log, const void *address, size_t size) {
  _Alignas(NVM_FRAME_ALIGN) char line[NVM_FRAME_ALIGN];
  if (NVMI_LIKELY(size <= NVM_FRAME_ROOM))
    put_piece(log, (struct nvm_frame *)line, address, (uint32_t)size);
  else
    put_long(log, address, size);
}

/* Crash after this: the store may be in the file, its entry is. */
static void undo_settle(struct nvmi_log *log) { nvmi_fence(log); }

static void flush_lines(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  void (*flush)(const void *, size_t) = log->pool->persist->flush;
  uint64_t flushed = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t length = lines[i].line & NVMI_RANGE ? lines[i].mask : 1;
    flush((void *)((lines[i].line & ~NVMI_RANGE) << 6), length << 6);
    flushed += length;
  }
  log->stats.flushed_lines += flushed;
}

/* Signal handlers may have noted more while the lines were flushed; theirs belong to the ending
 * transaction. */
static void flush_late(struct nvmi_log *log, size_t before) {
  const struct nvmi_array *nested = &log->owner->nested;
  if (NVMI_LIKELY(nested->count == before))
    return;
  nvmi_fence(log); /* a checked commit did without */
  flush_lines(log, (const struct nvmi_line *)nested->items + before, nested->count - before);
  nvmi_fence(log);
}

/* Whether the commit record may be written along with the data that it commits: recovery then finds
 * out by the checksum whether all of it arrived. Every new byte must have an entry; nothing may be
 * freed, for the next transaction could write there without one; and no other thread may write
 * before the record is retired. */
static bool may_check(const struct nvmi_log *log) {
  const struct nvmi_thread *thread = log->owner;
  if (log->pool->header.domain != NVM_DOMAIN_POWER || !log->range_count ||
      log->range_count > NVMI_CHECKED_MAX || thread->fresh_stores || thread->handlers_store ||
      log->pool->several_logs)
    return false;
  const struct nvmi_intent *intents = log->intents.items;
  for (size_t i = 0; i < log->intents.count; i++)
    if (intents[i].is_free)
      return false;
  return true;
}

static uint64_t sum_of_ranges(const struct nvmi_log *log, unsigned count) {
  uint64_t sum = log->pool->check_seed;
  for (unsigned i = 0; i < count; i++)
    sum = nvmi_check(log->pool->work + log->ranges[i].offset, log->ranges[i].size, sum);
  return sum;
}

/* Not waited for. Where it is missing after a power failure nothing happened since the commit's
 * fence, and the checksum says the same. */
static void retire(struct nvmi_log *log, struct nvmi_cursor *ending) {
  _Alignas(NVM_FRAME_ALIGN) struct nvm_frame frame[2] = {
      {.shape = NVM_FRAME_SHAPE(NVM_FRAME_RETIRED, 0, 0)}};
  nvmi_log_put(log, ending, frame, 0, true);
}

/* The record of the transaction that `ending` belongs to. */
static bool put_record(struct nvmi_log *log, struct nvmi_record *record, struct nvmi_cursor *ending,
                       unsigned checked_ranges, uint64_t sum) {
  const uint64_t *operations = log->operations.items;
  nvmi_record_begin(record, log, ending, log->operations.count || checked_ranges);
  for (size_t i = 0; i < log->operations.count; i++)
    nvmi_record_operation(record, operations[i]);
  if (checked_ranges && record->solo)
    nvmi_record_sum(record, sum);
  else if (checked_ranges)
    nvmi_fence(log); /* another thread came in between */
  return nvmi_record_end(record);
}

static enum nvm_error undo_commit(struct nvmi_log *log, const struct nvmi_line *lines,
                                  size_t count) {
  size_t nested = log->owner->nested.count;
  if (!count && !log->operations.count && !log->cursor->frames)
    return NVM_OK;
  unsigned checked_ranges = may_check(log) ? log->range_count : 0;
  /* Before the flush: a line that is on its way is slow to read. */
  uint64_t sum = sum_of_ranges(log, checked_ranges);
  flush_lines(log, lines, count);
  if (!checked_ranges) {
    /* Crash before this fence: undone from the log. After: undone all the same, until the record is
     * there. It also covers what the transaction before stored in place, whose bank is the next to
     * be written. */
    nvmi_fence(log);
    atomic_store_explicit(&log->pending, 0, memory_order_release);
  }
  nvmi_step(NVMI_STEP_COMMIT);
  log->committing = true; /* until the record is durable: what a handler notes proves nothing yet */
  struct nvmi_cursor *ending = nvmi_log_next(log);
  flush_late(log, nested);
  struct nvmi_record record;
  if (!put_record(log, &record, ending, log->owner->handlers_store ? 0 : checked_ranges, sum)) {
    log->committing = false;
    log->cursor = ending; /* the method's abort finds the entries where they are */
    return NVM_ENOSPACE;
  }
  nvmi_step(NVMI_STEP_COMMIT);
  /* Crash before this fence: committed or undone, as the record's checksums say. After: committed.
   */
  nvmi_fence(log);
  log->committing = false;
  nvmi_record_durable(&record);
  nvmi_step(NVMI_STEP_COMMIT);
  if (record.checked)
    retire(log, ending);
  nvmi_apply_operations(log);
  nvmi_record_issued(&record);
  nvmi_step(NVMI_STEP_COMMIT);
  return NVM_OK;
}

/* Undoes newest first, makes that durable, then says with an empty commit record that nothing is
 * left to undo: later, another thread may own those bytes. Crash in between: recovery undoes the
 * same again. */
static void undo_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  if (!count && !log->cursor->frames)
    return;
  (void)lines;
  nvmi_undo_cursor(log->pool, log->slot, log->cursor->transaction);
  nvmi_fence(log);
  nvmi_step(NVMI_STEP_COMMIT);
  struct nvmi_record record;
  nvmi_record_begin(&record, log, nvmi_log_next(log), false);
  if (!nvmi_record_end(&record))
    nvmi_die(log->pool->path, "no room for the end of an aborted transaction");
  nvmi_fence(log);
  nvmi_step(NVMI_STEP_COMMIT);
}

/* The child gets no mapping (map.c): there is nothing to prepare. */
static void undo_before_fork(struct nvm_pool *pool) { (void)pool; }

const struct nvmi_method nvmi_undo = {
    .name = "undo",
    .id = NVM_METHOD_UNDO,
    .private_work = false,
    .note = undo_note,
    .settle = undo_settle,
    .commit = undo_commit,
    .abort = undo_abort,
    .before_fork = undo_before_fork,
};
