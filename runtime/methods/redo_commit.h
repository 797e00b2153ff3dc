/* redo_commit.h: commits by a redo record, for the methods `shadow` and `lat`.
 *
 * A record says which bytes change. It is durable before any of them is stored in place. Short: a
 * record of one frame, put together in the log's copy (log/checkpoint.h). Long: any other; it fences a
 * second time, behind its stores in place.
 */
#pragma once

#include "core/alias.h"
#include "core/handed.h"
#include "log/checkpoint.h"
#include "log/record.h"
#include "methods/shadow_lines.h"

/* Commits what the log has captured, then the lines, as the program's view has them now, then aliases. What went
 * directly is left out: nvmi_direct_store (tx/direct.h) has been called. NVM_ENOSPACE: the log
 * cannot grow; nothing has happened. */
enum nvm_error nvmi_redo_commit(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);

/* What signal handlers have stored, but the first `late` items of it, came too late for the record
 * that the log is committing: it gets a record of its own. */
void nvmi_redo_commit_behind(struct nvmi_log *log, size_t late);

/* Aliases that are in the file, where another thread has just made the view private (core/regions.h): what was handed
 * over is there already. */
static inline void nvmi_redo_show_aliases(struct nvmi_log *log) {
  const struct nvmi_captured *captured = log->captured.items;
  atomic_thread_fence(memory_order_seq_cst);
  for (size_t i = log->captured.count - log->alias.count; i < log->captured.count; i++) {
    uintptr_t start = captured[i].line * NVM_LINE_SIZE;
    if (nvmi_region_is_private(log->pool, nvmi_captured_offset(log, &captured[i])))
      nvmi_captured_read(&captured[i], (char *)start, start, start + NVM_LINE_SIZE);
  }
}

/* What is captured or aliased is stored in place, and flushed; nothing of it is left. */
static inline void nvmi_redo_store_captured(struct nvmi_log *log) {
  const struct nvm_pool *pool = log->pool;
  const struct nvmi_captured *captured = log->captured.items;
  for (size_t i = 0; i < log->captured.count; i++)
    pool->persist->store_line(pool->home + nvmi_captured_offset(log, &captured[i]),
                              captured[i].bytes, captured[i].mask);
  if (log->alias.count)
    nvmi_redo_show_aliases(log);
  log->stats.flushed_lines += log->captured.count;
  nvmi_handed_remove(&log->captured);
  nvmi_alias_close(log);
  log->captured.count = 0;
}

/* So many bytes at most have `count` lines, and the `captured` ones, and the log's operations, in a record; 0: more than one
 * frame has. Few lines are not looked at. None is a range. */
static inline __attribute__((always_inline)) size_t nvmi_short_redo_size(
    const struct nvmi_log *log, const struct nvmi_line *lines, size_t count, size_t captured) {
  size_t rest = NVMI_LINE_PAYLOAD_MAX * captured + sizeof(uint64_t) * log->operations.count;
  size_t bytes = rest + NVMI_LINE_PAYLOAD_MAX * count;
  if (NVMI_LIKELY(bytes <= NVMI_PAYLOAD_MAX))
    return bytes;
  if (rest + NVMI_LINE_PAYLOAD_LEAST * count > NVMI_PAYLOAD_MAX)
    return 0;
  bytes = rest;
  for (size_t i = 0; i < count; i++)
    bytes += nvmi_encoded_size(lines[i].mask);
  return bytes <= NVMI_PAYLOAD_MAX ? bytes : 0;
}

/* A place in the copy for a short record with a payload of `bytes`. Null: there is none. */
static inline __attribute__((always_inline)) struct nvm_frame *
nvmi_short_redo_room(struct nvmi_log *log, size_t bytes) {
  size_t size_max = sizeof(struct nvm_frame) + bytes + NVM_FRAME_ALIGN;
  struct nvm_frame *frame = nvmi_log_copy_room(log, size_max);
  if (NVMI_LIKELY(frame != NULL))
    return frame;
  return nvmi_log_make_room(log, size_max) ? nvmi_log_copy_room(log, size_max) : NULL;
}

/* The operations, at the start of the payload; gives where the lines go. */
static inline char *nvmi_short_redo_operations(const struct nvmi_log *log,
                                               struct nvm_frame *frame) {
  char *at = (char *)(frame + 1);
  size_t size = log->operations.count * sizeof(uint64_t);
  if (size)
    memcpy(at, log->operations.items, size);
  return at + size;
}

/* The frame is put together in the copy, all but its head; `used` bytes. Under a number of its own it
 * goes to the log, and is fenced; then the caller stores the lines in place. Until then the log is
 * announced: no bound passes the record. Also the only log is: who makes a second may take a checkpoint first.
 * Gives the bytes that it takes in the log. */
static inline __attribute__((always_inline)) uint64_t nvmi_short_redo_put(struct nvmi_log *log,
                                                                          struct nvm_frame *frame,
                                                                          uint64_t used) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_cursor *cursor = log->cursor;
  uint64_t size = (used + NVM_FRAME_ALIGN - 1) & ~(uint64_t)(NVM_FRAME_ALIGN - 1);
  bool solo = nvmi_solo_enter(log);
  uint64_t oldest = atomic_load_explicit(&pool->order, memory_order_relaxed);
  atomic_store_explicit(&log->pending, oldest << 1 | !solo, memory_order_relaxed);
  frame->order = nvmi_log_number(log, solo);
  frame->bound = atomic_load_explicit(&pool->bound, memory_order_relaxed);
  frame->transaction = cursor->transaction++ << 16;
  frame->shape = NVM_FRAME_SHAPE(NVM_FRAME_COMMIT | NVM_FRAME_PACKED, log->operations.count,
                                 used - sizeof *frame);
  frame->check = nvmi_check_by(&pool->key, &frame->transaction, used - sizeof frame->check);
  pool->persist->append((char *)cursor->segment + cursor->at, frame, size);
  cursor->at += size;
  log->stats.log_entries++;
  log->stats.log_bytes += size;
  nvmi_step(NVMI_STEP_APPEND);
  /* Crash before this fence: the record is whole or it is not. After: committed. It also covers
   * what the record before stored in place, unless that was put behind. */
  nvmi_record_fence(log, frame->order, solo);
  nvmi_step(NVMI_STEP_COMMIT);
  nvmi_log_begin_behind(log);
  return size;
}

/* The lines are stored in place. */
static inline __attribute__((always_inline)) void
nvmi_short_redo_end(struct nvmi_log *log, const struct nvm_frame *frame, uint64_t size) {
  nvmi_apply_operations(log);
  nvmi_log_end_behind(log);
  nvmi_redo_commit_behind(log, 0);
  nvmi_step(NVMI_STEP_COMMIT);
  nvmi_log_publish(log, frame, size);
  atomic_store_explicit(&log->pending, 0, memory_order_release);
  nvmi_solo_leave(log);
}
