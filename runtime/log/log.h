/* log.h: a thread's log in a pool: banks, segments, frames, and the order among threads.
 *
 * The usual way of an append is inline here and in record.h, as few stores as can be: a processor
 * runs ahead of a fence only as far as its store buffer reaches (some 110 stores on Sapphire
 * Rapids), and a transaction of fewer hides its fence behind the next one's work. Calls count: each
 * pushes a return address and what it saves.
 */
#pragma once

#include "base/checksum.h"
#include "base/kill.h"
#include "core/log_state.h"
#include "core/thread.h"

/* Takes a free log of the pool for the thread, or makes one. Null: no room, recorded. */
struct nvmi_log *nvmi_log_attach(struct nvmi_thread *thread, struct nvm_pool *pool);
/* The thread's log in a pool, taken at first need. Null: recorded. */
struct nvmi_log *nvmi_log_make(struct nvmi_thread *thread, struct nvm_pool *pool);
static inline struct nvmi_log *nvmi_log_of(struct nvmi_thread *thread, struct nvm_pool *pool) {
  struct nvmi_log *log = thread->logs[pool->index];
  return NVMI_LIKELY(log != NULL) ? log : nvmi_log_make(thread, pool);
}
/* The thread ends: another may have its log. Nothing is open in it. */
void nvmi_log_detach(struct nvmi_log *log);
#ifndef NDEBUG
/* What does not hold of it while its owner has nothing open (base/invariant.h). */
const char *nvmi_log_fault(const struct nvmi_log *log);
#endif
/* From now on `stores_unnoted`; what committed before does not depend on such bytes. */
void nvmi_pool_stores_unnoted(struct nvm_pool *pool);
/* Starts the next generation, durably: the logs are empty, and will be recovered from. A pool that
 * the exit handler has left is left once more when the process ends. Nobody writes meanwhile. */
void nvmi_log_next_generation(struct nvm_pool *pool);

enum {
  NVMI_ROOM_FOR_NESTED =
      4 << 10, /* kept at the end of a segment for signal handlers and the last frame */
  NVMI_ROOM_FOR_VOID = 128, /* kept of that for the frame that says that a record did not fit */
  NVMI_SPREAD = 4 << 10     /* bytes of a bank that short undo transactions take turns in */
};
/* Moves the cursor to the next segment; false: there is none and none can be made. */
bool nvmi_log_extend(struct nvmi_log *log, struct nvmi_cursor *cursor);
/* Ends the process: no room for an undo entry, so its store cannot be made. */
_Noreturn void nvmi_log_cannot_grow(const struct nvmi_log *log);

/* A place of `size` bytes; null: the log cannot grow. A handler may move the log to its next
 * segment between the two lines that take a place: then it is taken again, and a few lines stay
 * empty. */
static inline char *nvmi_log_take_room(struct nvmi_log *log, struct nvmi_cursor *cursor,
                                       size_t size, size_t kept) {
  struct nvm_segment *volatile *current = &cursor->segment;
  for (;;) {
    struct nvm_segment *segment = *current;
    if (NVMI_UNLIKELY(cursor->at + size + kept > segment->size) && !nvmi_log_extend(log, cursor))
      return NULL;
    segment = *current;
    uint64_t at = nvmi_local_add(&cursor->at, size);
    if (NVMI_LIKELY(*current == segment && at + size <= segment->size))
      return (char *)segment + at;
  }
}

/* Appends `frame` (aligned to a line, payload behind it, all but check and transaction filled in;
 * low 16 bits: `part`); streamed, not fenced, with what is behind it in its last line. False: the
 * log cannot grow. `kept`: so much of the segment stays free. A signal handler appends within the room kept
 * for it, without growing the log, and so does the end of a transaction.
 */
static inline __attribute__((always_inline)) bool nvmi_log_put(struct nvmi_log *log,
                                                               struct nvmi_cursor *cursor,
                                                               struct nvm_frame *frame,
                                                               uint16_t part, size_t kept) {
  struct nvm_pool *pool = log->pool;
  size_t used = sizeof *frame + NVM_FRAME_LENGTH(frame);
  size_t size = (used + NVM_FRAME_ALIGN - 1) & ~(size_t)(NVM_FRAME_ALIGN - 1);
  frame->transaction = cursor->transaction << 16 | part;
  frame->check = nvmi_check_by(&pool->key, &frame->transaction, used - sizeof frame->check);
  char *place = nvmi_log_take_room(log, cursor, size, kept);
  if (!place)
    return false;
  pool->persist->append(place, frame, size);
  cursor->frames++;
  log->stats.log_entries++;
  log->stats.log_bytes += size;
  nvmi_step(NVMI_STEP_APPEND);
  return true;
}

static inline void nvmi_log_to_bank_start(struct nvmi_log *log, struct nvmi_cursor *cursor,
                                          uint64_t transaction) {
  cursor->transaction = transaction;
  cursor->segment = log->first[transaction & 1];
  cursor->at = sizeof *cursor->segment;
  cursor->frames = cursor->fenced = 0;
}

/* Begins behind what the bank has, while that is little: a line that was flushed a moment ago is
 * slow to write. */
static inline void nvmi_log_to_next_line(struct nvmi_log *log, struct nvmi_cursor *cursor,
                                         uint64_t transaction) {
  if (cursor->segment != log->first[transaction & 1] || cursor->at > NVMI_SPREAD) {
    nvmi_log_to_bank_start(log, cursor, transaction);
    return;
  }
  cursor->transaction = transaction;
  cursor->frames = cursor->fenced = 0;
}

static inline void nvmi_fence(struct nvmi_log *log) {
  log->stats.fences++;
  log->pool->persist->fence();
}

/* A fence that entries wait for: later ones say that these are durable (log_end.c). */
static inline void nvmi_fence_entries(struct nvmi_log *log) {
  uint64_t frames = log->cursor->frames;
  nvmi_fence(log);
  log->cursor->fenced = frames;
}

/* From now on notes belong to the next transaction, in the other bank. Gives the cursor of the one
 * that is to end. What the one before it stored in place must be fenced, or its record is lost to
 * this one's. */
static inline struct nvmi_cursor *nvmi_log_next(struct nvmi_log *log) {
  struct nvmi_cursor *old = log->cursor, *next = &log->cursors[(old->transaction + 1) & 1];
  nvmi_log_to_next_line(log, next, old->transaction + 1);
  log->undo.range_count = 0;
  log->cursor =
      next; /* one store: a signal handler's note belongs to one transaction or to the other */
  return old;
}

/* A section in which this log may be the only one of the pool: then (true) nobody else writes order
 * numbers, heap bits or lines, and no locked instruction is needed, each of which would wait for
 * all streamed lines. A second log waits for open sections to end before it writes anything. May be
 * nested. */
static inline bool nvmi_solo_enter(struct nvmi_log *log) {
  int depth = atomic_load_explicit(&log->solo, memory_order_relaxed);
  atomic_store_explicit(&log->solo, depth + 1, memory_order_relaxed);
  nvmi_compiler_barrier(); /* the processor's part is done by become_several() */
  return !atomic_load_explicit(&log->pool->several_logs, memory_order_relaxed);
}

static inline void nvmi_solo_leave(struct nvmi_log *log) {
  int depth = atomic_load_explicit(&log->solo, memory_order_relaxed);
  atomic_store_explicit(&log->solo, depth - 1, memory_order_release);
}

/* The next order number; within a section. */
static inline uint64_t nvmi_log_order(struct nvmi_log *log, bool solo) {
  if (solo)
    return nvmi_local_add((uint64_t *)&log->pool->order, 1);
  return atomic_fetch_add(&log->pool->order, 1);
}

/* The same for a commit record. Where commits do not wait it gets its number and its place in the page
 * cache in one piece: so when the process dies no number is missing below one that is there (D2). From
 * here to nvmi_record_fence. */
static inline uint64_t nvmi_log_number(struct nvmi_log *log, bool solo) {
  if (NVMI_UNLIKELY(log->pool->persist->record != NULL) && !solo)
    nvmi_lock(&log->pool->numbering);
  return nvmi_log_order(log, solo);
}

/* All commit records below are durable in place. Never less than nvmi_log_raise_bound was given. */
uint64_t nvmi_log_bound(struct nvm_pool *pool);
void nvmi_log_raise_bound(struct nvm_pool *pool, uint64_t bound);
/* Waits until all records up to `order` are, and says so. */
void nvmi_log_await(struct nvm_pool *pool, uint64_t order);

/* The checksum that belongs into a segment; whether it is what a chain may lead to. */
uint64_t nvmi_segment_check(const struct nvm_pool *pool, const struct nvm_segment *segment);
bool nvmi_segment_valid(const struct nvm_pool *pool, uint64_t at, unsigned slot, unsigned bank,
                        unsigned position);
