/* log.h: a thread's log in a pool: banks, segments, frames, and the order among threads. */
#pragma once

#include "internal.h"

/* Takes a free log of the pool for the thread, or makes one. Null: no room, recorded. */
struct nvmi_log *nvmi_log_attach(struct nvmi_thread *thread, struct nvm_pool *pool);
/* The thread ends: another may have its log. Nothing is open in it. */
void nvmi_log_detach(struct nvmi_log *log);
/* Commits what all threads have outside transactions; NVM_EOPENTX when one has a transaction open.
 */
int nvmi_log_close_all(struct nvm_pool *pool);
void nvmi_log_free_all(struct nvm_pool *pool);
/* The header says that no log matters: banks become one segment again, the rest is freed by the
 * next build. */
void nvmi_log_shrink(struct nvm_pool *pool);

/* Appends `frame` (aligned to a line, payload behind it, all but check and transaction filled in;
 * low 16 bits: `part`); streamed, not fenced. False: the log cannot grow. With `nested` it never
 * tries to: a signal handler appends within the room kept for it, so does the end of a transaction.
 */
bool nvmi_log_put(struct nvmi_log *log, struct nvmi_cursor *cursor, struct nvm_frame *frame,
                  uint16_t part, bool nested);
/* From now on notes belong to the next transaction, in the other bank. Gives the cursor of the one
 * that is to end. What the one before it stored in place must be fenced, or its record is lost to
 * this one's. */
struct nvmi_cursor *nvmi_log_next(struct nvmi_log *log);

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

/* All commit records below are durable in place. Never less than nvmi_log_raise_bound was given. */
uint64_t nvmi_log_bound(struct nvm_pool *pool);
void nvmi_log_raise_bound(struct nvm_pool *pool, uint64_t bound);
/* Waits until all records up to `order` are, and says so. */
void nvmi_log_await(struct nvm_pool *pool, uint64_t order);

/* A commit record under construction. */
struct nvmi_record {
  struct nvmi_log *log;
  struct nvmi_cursor *cursor;
  uint64_t order, bound;
  uint32_t used; /* payload bytes of the frame in log->stage */
  uint16_t operations, frames;
  bool solo;    /* lasts from begin to issued */
  bool checked; /* carries a checksum */
  bool full;    /* the log could not grow: the record is void */
};
/* `replay`: the record holds something; without, it only says that the transaction committed. */
void nvmi_record_begin(struct nvmi_record *record, struct nvmi_log *log, struct nvmi_cursor *cursor,
                       bool replay);
void nvmi_record_operation(struct nvmi_record *record, uint64_t operation);
/* The bytes of a line of the program's view at file offset `offset`, those of `mask`. */
void nvmi_record_line(struct nvmi_record *record, uint64_t offset, const void *bytes,
                      uint64_t mask);
/* Adds the checksum of a checked commit; the last thing before the end. */
void nvmi_record_sum(struct nvmi_record *record, uint64_t sum);
/* Puts the COMMIT frame; false: void. After the caller's fence the transaction has committed. */
bool nvmi_record_end(struct nvmi_record *record);
/* After that fence, and after the record's stores in place were issued. */
void nvmi_record_durable(struct nvmi_record *record);
void nvmi_record_issued(struct nvmi_record *record);

/* Stores the operations in place, flushed, not fenced. */
void nvmi_apply_operations(struct nvmi_log *log);
/* Stores the low 16 bits of an operation where it says; false: outside the heap's tables. */
bool nvmi_apply_operation(struct nvm_pool *pool, uint64_t operation);
