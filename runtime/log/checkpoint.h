/* checkpoint.h: logs of the shadow method: when a record need not be replayed any more, and where the
 * next one goes.
 *
 * Bank: records one behind the other, of hundreds of transactions. Copy: the records of the current
 * bank in DRAM, where they were put together. A commit stores in place what its record says, and
 * flushes; its thread's next fence makes that durable. Checkpoint: flush what each log's last record
 * stored, whoever did, and fence: then all records below a number, the bound, are in place durably,
 * and later records say so. Switch: a log whose bank is full takes a checkpoint and goes on at the
 * start of its other bank. So a commit of little costs one fence, or two with new
 * blocks' bytes, however many threads there are (docs/internals/crash-consistency.md, S1
 * to S4). On a disk no fence of a thread waits for what its commits stored in place: a checkpoint
 * syncs the whole file, and a bank becomes long before its log switches (S6).
 */
#pragma once

#include "log/log.h"

/* Raises the bound as far as it goes without waiting for anybody who commits, and gives it. */
uint64_t nvmi_checkpoint(struct nvm_pool *pool);

/* On a disk, what a commit stores in place between the two is left to the next checkpoint. Elsewhere nothing
 * happens, and the end gives false. */
static inline void nvmi_log_begin_behind(const struct nvmi_log *log) {
  const struct nvmi_persist_behind *behind = log->pool->persist->behind;
  if (NVMI_UNLIKELY(behind != NULL))
    behind->begin(log->pool->home);
}
static inline bool nvmi_log_end_behind(const struct nvmi_log *log) {
  const struct nvmi_persist_behind *behind = log->pool->persist->behind;
  if (NVMI_UNLIKELY(behind != NULL))
    behind->end(log->pool->home);
  return behind;
}

/* Whether the other bank, and not an ever longer one, should have the next records. */
bool nvmi_log_is_far(const struct nvmi_log *log);
/* A place for a record of `size` bytes, further on in this bank or in the other. False: there is
 * none. */
bool nvmi_log_make_room(struct nvmi_log *log, size_t size);

/* From now on records go to the start of the other bank. False: they may not: none in this bank
 * tells yet that those of the other need no replay. */
bool nvmi_log_switch(struct nvmi_log *log);

/* Where the next record is put together; null: copy or bank have no `size` bytes left. */
static inline struct nvm_frame *nvmi_log_copy_room(struct nvmi_log *log, size_t size) {
  const struct nvmi_cursor *cursor = log->cursor;
  size_t end = (uint32_t)atomic_load_explicit(&log->last, memory_order_relaxed);
  bool fits = end + size <= sizeof log->copy && cursor->at + size <= cursor->segment->size;
  return NVMI_LIKELY(fits) ? (struct nvm_frame *)(log->copy + end) : NULL;
}

/* The record there, of so many bytes, is durable, and stored in place. */
static inline void nvmi_log_publish(struct nvmi_log *log, const struct nvm_frame *frame,
                                    size_t size) {
  uint64_t start = (uint64_t)((const char *)frame - log->copy);
  atomic_store_explicit(&log->last, start << 32 | (start + size), memory_order_release);
}
