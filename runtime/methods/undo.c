/* undo.c: the old bytes go to the log before the store (Breeze, section IV.C).
 *
 * Fences of a transaction with W notes: W, one for each entry before its store (stores in a row are
 * noted together and share one); one for the new data; one for the commit record. Heap operations are
 * in the commit record, and are stored in place after it; the next transaction's first fence covers
 * them (docs/internals/crash-consistency.md, U3). In the process domain a fence costs nothing.
 */
#include "methods/undo.h"
#include "base/kill.h"
#include "core/piece.h"
#include "heap/heap.h"
#include "judge/judge.h"
#include "judge/pointers.h"
#include "log/entry.h"
#include "log/log_read.h"
#include "log/record.h"
#include "methods/methods.h"
#include "methods/undo_own.h"
#include "order/order_join.h"
#include "order/undoing.h"
#include "platform/domain.h"

#include <string.h>

enum { PIECE_MAX = 2048 - sizeof(struct nvm_frame) };

static __attribute__((noinline)) void put_long(struct nvmi_log *log, const char *address,
                                               size_t size) {
  _Alignas(NVM_FRAME_ALIGN) char buffer[sizeof(struct nvm_frame) + PIECE_MAX];
  while (size) {
    uint32_t piece = size < PIECE_MAX ? (uint32_t)size : PIECE_MAX;
    uint32_t used = sizeof(struct nvm_frame) + piece;
    memset(buffer + used, 0, -used % NVM_FRAME_ALIGN);
    nvmi_entry_put(log, (struct nvm_frame *)buffer, address, piece);
    address += piece;
    size -= piece;
  }
}

void nvmi_undo_note(struct nvmi_log *log, const void *address, size_t size) {
  if (NVMI_LIKELY(size <= NVM_FRAME_ROOM))
    nvmi_entry_put_short(log, address, (uint32_t)size);
  else
    put_long(log, address, size);
}

/* Crash after this: the store may be in the file, its entry is. */
static void undo_drain(struct nvmi_log *log) { nvmi_fence_entries(log); }

static void flush_lines(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  void (*flush)(const void *, size_t) = log->pool->persist->flush;
  uint64_t flushed = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t length = nvmi_line_count(&lines[i]);
    flush((void *)(nvmi_line_first(&lines[i]) << 6), length << 6);
    flushed += length;
  }
  log->stats.flushed_lines += flushed;
}

/* What signal handlers have noted while the lines were flushed belongs to the ending transaction; what
 * they note from here on does not. True: there is some, and a fence has to follow. */
static bool flush_late(struct nvmi_log *log, size_t before) {
  size_t end = *(const volatile size_t *)&log->owner->nested.count;
  if (NVMI_LIKELY(end == before))
    return false;
  nvmi_check_late(log, before, end);
  flush_lines(log, (const struct nvmi_line *)log->owner->nested.items + before, end - before);
  return true;
}

static bool has_volatile(const struct nvmi_log *log) {
  bool found = false;
  for (unsigned i = 0; i < nvmi_known_ranges(log) && !found; i++)
    found = nvmi_has_volatile_at(log->pool, log->undo.ranges[i].offset,
                                 log->undo.ranges[i].offset + log->undo.ranges[i].size);
  return found;
}

/* Whether the commit record may be written along with the data that it commits: recovery then finds
 * out by the checksum whether all of it arrived. Every new byte must have an entry; nothing may be
 * freed, for the next transaction could write there without one; and no other thread may write
 * before the record is retired, nor anybody without a note. */
static bool may_check(const struct nvmi_log *log) {
  const struct nvmi_thread *thread = log->owner;
  if (!nvmi_domain_flushes(log->pool->header.domain) || !log->undo.range_count ||
      log->undo.range_count > NVMI_CHECKED_MAX || thread->fresh_stores || thread->handlers_store ||
      log->pool->several_logs || log->pool->stores_unnoted ||
      (log->operations.count + 1) * sizeof(uint64_t) > NVMI_PAYLOAD_MAX)
    return false;
  const struct nvmi_intent *intents = log->intents.list.items;
  for (size_t i = 0; i < log->intents.list.count; i++)
    if (intents[i].fate == NVMI_FREED)
      return false;
  return !log->pool->has_volatile || !has_volatile(log);
}

static uint64_t sum_of_ranges(const struct nvmi_log *log) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < nvmi_known_ranges(log); i++)
    sum = nvmi_check_add(sum, nvmi_check_by(&log->pool->key,
                                            log->pool->work + log->undo.ranges[i].offset,
                                            log->undo.ranges[i].size));
  return sum;
}

/* Not waited for. Where it is missing after a power failure nothing happened since the commit's
 * fence, and the checksum says the same. */
static void retire(struct nvmi_log *log, struct nvmi_cursor *ending) {
  struct nvm_frame *frame = nvmi_stage(log);
  frame->order = frame->bound = 0;
  frame->shape = NVM_FRAME_SHAPE(NVM_FRAME_RETIRED, 0, 0);
  nvmi_log_put(log, ending, frame, 0, 0);
}

/* The second half of a checked commit: record, data and their fence. The short record has begun.
 * False: the log cannot grow. */
static inline bool end_checked(struct nvmi_log *log, struct nvmi_cursor *ending, uint64_t sum) {
  size_t operations = log->operations.count * sizeof(uint64_t);
  char *end = nvmi_short_payload(log);
  if (operations)
    memcpy(end, log->operations.items, operations);
  end += operations;
  memcpy(end, &sum, sizeof sum);
  end += sizeof sum;
  if (!nvmi_short_end(log, ending, NVM_FRAME_COMMIT_CHECKED, end))
    return false;
  nvmi_step(NVMI_STEP_COMMIT);
  /* Crash before this fence: committed or undone, as the record's checksums say. After: committed.
   */
  nvmi_fence(log);
  log->undo.committing = false;
  nvmi_short_durable(log);
  nvmi_step(NVMI_STEP_COMMIT);
  retire(log, ending);
  if (NVMI_UNLIKELY(log->owner->handlers_store)) /* one came: its store may have changed the sum */
    nvmi_fence(log);
  nvmi_apply_operations(log);
  nvmi_solo_leave(log);
  return true;
}

/* The same where the data are fenced already. False: the log cannot grow. */
static __attribute__((noinline)) bool end_plain(struct nvmi_log *log, struct nvmi_cursor *ending) {
  const uint64_t *operations = log->operations.items;
  struct nvmi_record record;
  nvmi_record_begin(&record, log, ending, log->operations.count);
  for (size_t i = 0; i < log->operations.count; i++)
    nvmi_record_operation(&record, operations[i]);
  if (!nvmi_record_end(&record))
    return false;
  nvmi_step(NVMI_STEP_COMMIT);
  /* Crash before this fence: undone, or the record is whole and it committed. After: committed. */
  nvmi_fence(log);
  log->undo.committing = false;
  nvmi_record_durable(&record);
  nvmi_step(NVMI_STEP_COMMIT);
  nvmi_apply_operations(log);
  nvmi_record_issued(&record);
  return true;
}

/* Crash before this fence: undone from the log. After: undone all the same, until the record is
 * there. It also covers what the transaction before stored in place, whose bank is the next to be
 * written: the floor may pass that one's record, so what it freed can be used again. */
static void fence_data(struct nvmi_log *log) {
  nvmi_fence(log);
  atomic_store_explicit(&log->pending, 0, memory_order_release);
}

enum nvm_error nvmi_undo_commit(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  size_t nested = log->owner->nested.count;
  if (!count && !log->operations.count && !log->cursor->frames)
    return NVM_OK;
  bool checked = may_check(log), ended;
  /* Before the flush: a line that is on its way is slow to read. */
  uint64_t sum = checked ? sum_of_ranges(log) : 0;
  flush_lines(log, lines, count);
  if (!checked)
    fence_data(log);
  nvmi_step(NVMI_STEP_COMMIT);
  log->undo.committing = true; /* a handler's notes prove nothing before the record is durable */
  struct nvmi_cursor *ending = nvmi_log_next(log);
  bool late = flush_late(log, nested);
  if (NVMI_LIKELY(checked && !log->owner->handlers_store && nvmi_short_begin(log))) {
    ended = end_checked(log, ending, sum);
  } else {
    if (checked || late) /* a handler stored, or another thread came in between */
      fence_data(log);
    ended = end_plain(log, ending);
  }
  if (!ended) {
    log->undo.committing = false;
    log->cursor = ending; /* the method's abort finds the entries where they are */
    return NVM_ENOSPACE;
  }
  nvmi_step(NVMI_STEP_COMMIT);
  return NVM_OK;
}

struct pieces {
  const struct nvm_pool *pool;
  struct nvmi_array *list;
  bool incomplete;
};

/* The oldest entry of a byte has what was there before: it applies last. */
static void add_pieces(void *context, const struct nvm_frame *frame) {
  struct pieces *pieces = context;
  const char *old = (const char *)(frame + 1);
  for (uint64_t at = 0, size = NVM_FRAME_LENGTH(frame); at < size;) {
    uint64_t offset = (frame->offset + at) & ~UINT64_C(7), known, bytes = 0, mask = 0;
    for (; at < size && frame->offset + at - offset < sizeof known; at++) {
      unsigned shift = 8 * (unsigned)(frame->offset + at - offset);
      bytes |= (uint64_t)(unsigned char)old[at] << shift;
      mask |= UINT64_C(0xff) << shift;
    }
    memcpy(&known, pieces->pool->work + offset, sizeof known);
    if (!nvmi_piece_add(pieces->list, offset, known, bytes, mask, UINT64_MAX - frame->order))
      pieces->incomplete = true;
  }
}

bool nvmi_undo_pieces(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                      struct nvmi_array *list) {
  struct pieces pieces = {.pool = log->pool, .list = list};
  (void)lines, (void)count;
  nvmi_own_entries(log, add_pieces, &pieces);
  return !pieces.incomplete;
}

/* An empty commit record: nothing of the log's transaction is left to undo. */
static void say_ended(struct nvmi_log *log) {
  struct nvmi_record record;
  nvmi_record_begin(&record, log, nvmi_log_next(log), false);
  if (!nvmi_record_end(&record))
    nvmi_die(log->pool->path, "no room for the end of a transaction");
  nvmi_fence(log);
  nvmi_step(NVMI_STEP_COMMIT);
}

/* Calls `visit` for each run of bytes of the entry that `masks` has, or (`outside`) has not. */
typedef void visit_run(void *context, const struct nvm_frame *frame, uint64_t from, uint64_t to);
static void each_run(const struct nvm_pool *pool, const struct nvm_frame *frame,
                     const struct nvmi_masks *masks, bool outside, visit_run *visit,
                     void *context) {
  uint64_t size = NVM_FRAME_LENGTH(frame), from = size;
  uintptr_t start = (uintptr_t)pool->work + frame->offset;
  for (uint64_t at = 0; at <= size; at++) {
    bool is_in =
        at < size &&
        (nvmi_masks_at(masks, (start + at) / NVM_LINE_SIZE) >> (start + at) % NVM_LINE_SIZE & 1) !=
            outside;
    if (is_in && from == size)
      from = at;
    if (!is_in && from != size) {
      visit(context, frame, from, at);
      from = size;
    }
  }
}

static void undo_run(void *context, const struct nvm_frame *frame, uint64_t from, uint64_t to) {
  struct nvm_pool *pool = context;
  memcpy(pool->work + frame->offset + from, (const char *)(frame + 1) + from, to - from);
  pool->persist->flush(pool->work + frame->offset + from, to - from);
}

static void undo_but_kept(void *context, const struct nvm_frame *frame) {
  each_run(context, frame, &nvmi_kept, true, undo_run, context);
}

/* Undoes newest first, makes that durable, then says with an empty commit record that nothing is
 * left to undo: later, another thread may own those bytes. Crash in between: recovery undoes the
 * same again. Kept bytes are undone with those of the dependents, which have the entries, too. */
void nvmi_undo_abort(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  if (!count && !log->cursor->frames)
    return;
  (void)lines;
  bool all = NVMI_LIKELY(!log->owner->node || !nvmi_kept.lines.count);
  nvmi_each_entry(log, all ? nvmi_undo_entry : undo_but_kept, log->pool);
  nvmi_fence(log);
  nvmi_step(NVMI_STEP_COMMIT);
  say_ended(log);
}

/* The new bytes are durable, the log stays behind with the old ones. */
void nvmi_undo_pack(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                    struct nvmi_parcel *parcel) {
  flush_lines(log, lines, count);
  nvmi_fence(log);
  parcel->log = log;
  log->owner->logs[log->pool->index] = NULL;
  log->owner = &nvmi_nobody;
}

static void copy_run(void *context, const struct nvm_frame *frame, uint64_t from, uint64_t to) {
  struct nvmi_log *log = context;
  _Alignas(NVM_FRAME_ALIGN) char buffer[sizeof(struct nvm_frame) + PIECE_MAX] = {0};
  struct nvm_frame *copy = (struct nvm_frame *)buffer;
  memcpy(copy, frame, sizeof *frame);
  memcpy(copy + 1, (const char *)(frame + 1) + from, to - from);
  copy->offset += from;
  uint64_t fenced = log->cursor->fenced;
  copy->shape =
      NVM_FRAME_SHAPE(NVM_FRAME_UNDO, NVM_UNDO_OPERATIONS(NVM_UNDO_NEXT, fenced), to - from);
  if (!nvmi_log_put(log, log->cursor, copy, (uint16_t)fenced, NVMI_ROOM_FOR_NESTED))
    nvmi_log_cannot_grow(log);
}

static void copy_entry(void *log, const struct nvm_frame *frame) {
  copy_run(log, frame, 0, NVM_FRAME_LENGTH(frame));
}

struct handing {
  const struct nvmi_masks *noted;
  struct nvmi_log *to;
};

static void count_run(void *context, const struct nvm_frame *frame, uint64_t from, uint64_t to) {
  (void)frame, (void)from, (void)to;
  *(bool *)context = true;
}

static void copy_noted(void *context, const struct nvm_frame *frame) {
  const struct handing *handing = context;
  each_run(handing->to->pool, frame, handing->noted, false, copy_run, handing->to);
}

struct question {
  const struct nvm_pool *pool;
  const struct nvmi_masks *noted;
  bool some;
};

static void ask(void *context, const struct nvm_frame *frame) {
  struct question *question = context;
  each_run(question->pool, frame, question->noted, false, count_run, &question->some);
}

/* Into a log of nobody's, whose transaction lasts until the dependent unpacks it. Crash before the
 * fence: these bytes are undone by this log's own entries alone. */
void nvmi_undo_hand_on(struct nvmi_log *log, const struct nvmi_masks *noted,
                       struct nvmi_parcel *parcel) {
  struct question question = {log->pool, noted, false};
  nvmi_own_entries(log, ask, &question);
  if (!question.some)
    return;
  parcel->log = nvmi_log_attach(&nvmi_nobody, log->pool);
  if (!parcel->log)
    nvmi_fatal_recorded(log->pool->path, "no log for what a dependent has to undo");
  nvmi_nobody.logs[log->pool->index] = NULL;
  nvmi_each_entry(log, copy_noted, &(struct handing){noted, parcel->log});
  nvmi_fence_entries(parcel->log);
  nvmi_step(NVMI_STEP_COMMIT);
}

static void add_entry(void *context, const struct nvm_frame *frame) {
  const struct handing *handing = context;
  uintptr_t start = (uintptr_t)handing->to->pool->work + frame->offset;
  nvmi_masks_add_bytes((struct nvmi_masks *)handing->noted, start, start + NVM_FRAME_LENGTH(frame));
}

void nvmi_undo_parcel_lines(const struct nvmi_parcel *parcel, struct nvmi_masks *lines) {
  nvmi_own_entries(parcel->log, add_entry, &(struct handing){lines, parcel->log});
}

/* The entries, with their order, become this transaction's own; then the other log says that its
 * transaction has ended. Crash before the copies are durable: both are undone, from their own
 * entries. Crash in between: the same bytes are put back twice. After: by this transaction's record
 * both are committed, without it both undone. */
void nvmi_undo_unpack(struct nvmi_log *log, struct nvmi_parcel *parcel) {
  struct nvmi_log *other = parcel->log;
  nvmi_each_entry(other, copy_entry, log);
  nvmi_fence_entries(log);
  nvmi_step(NVMI_STEP_COMMIT);
  say_ended(other);
  nvmi_ready_detach(other);
}

/* The child gets no mapping (map.c): there is nothing to prepare. */
void nvmi_undo_before_fork(struct nvm_pool *pool) { (void)pool; }

const struct nvmi_method nvmi_undo = {
    .name = "undo",
    .id = NVM_METHOD_UNDO,
    .private_work = false,
    .entries = true,
    .note = nvmi_undo_note,
    .drain = undo_drain,
    .commit = nvmi_undo_commit,
    .abort = nvmi_undo_abort,
    .hand_on = nvmi_undo_hand_on,
    .parcel_lines = nvmi_undo_parcel_lines,
    .pieces = nvmi_undo_pieces,
    .own_bytes = nvmi_undo_own_bytes,
    .pack = nvmi_undo_pack,
    .unpack = nvmi_undo_unpack,
    .before_fork = nvmi_undo_before_fork,
};
