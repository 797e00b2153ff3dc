/* record.h: commit records: what a transaction does to the file, as one checked unit of the log.
 *
 * The usual record is short: one frame, in the only log of the pool, kept in registers while it is
 * put together (log.h says why that matters). Any other is built by record.c.
 */
#pragma once

#include "log/log.h"
#include "log/redo.h"

#include <string.h>

enum {
  NVMI_PAYLOAD_MAX = NVMI_FRAME_MAX - sizeof(struct nvm_frame),
  NVMI_LINE_PAYLOAD_MAX = 16 + 64, /* bytes of a line in a record, at most */
  NVMI_LINE_PAYLOAD_LEAST = 8 + 8,
  NVMI_SHORT_LINES_MAX =
      NVMI_PAYLOAD_MAX / NVMI_LINE_PAYLOAD_MAX /* fit one frame beside few operations */
};

/* A commit record under construction. */
struct nvmi_record {
  struct nvmi_log *log;
  struct nvmi_cursor *cursor;
  uint64_t order, bound;
  uint32_t used; /* payload bytes of the frame in log->stage */
  uint16_t operations, frames;
  bool solo; /* lasts from begin to issued */
  bool full; /* the log could not grow: the record is void */
};
/* `replay`: the record holds something; without, it only says that the transaction committed. */
void nvmi_record_begin(struct nvmi_record *record, struct nvmi_log *log, struct nvmi_cursor *cursor,
                       bool replay);
void nvmi_record_operation(struct nvmi_record *record, uint64_t operation);
/* The bytes of a line of the program's view at file offset `offset`, those of `mask`. */
void nvmi_record_line(struct nvmi_record *record, uint64_t offset, const void *bytes,
                      uint64_t mask);
/* Puts the COMMIT frame; false: void. After the caller's fence the transaction has committed. */
bool nvmi_record_end(struct nvmi_record *record);
/* For nvmi_record_fence. */
void nvmi_record_delayed(struct nvmi_log *log, uint64_t order, bool solo);
/* In place of that fence, which it is where commits wait. Elsewhere all records up to this one are in the
 * page cache then, and others may take numbers again. */
static inline void nvmi_record_fence(struct nvmi_log *log, uint64_t order, bool solo) {
  const struct nvm_pool *pool = log->pool;
  if (NVMI_LIKELY(!pool->persist->record))
    nvmi_fence(log);
  else
    nvmi_record_delayed(log, order, solo);
}
/* After that fence, and after the record's stores in place were issued. */
void nvmi_record_durable(struct nvmi_record *record);
void nvmi_record_issued(struct nvmi_record *record);

/* Stores the operations in place, flushed, not fenced. */
void nvmi_apply_all(struct nvmi_log *log);
static inline void nvmi_apply_operations(struct nvmi_log *log) {
  if (NVMI_UNLIKELY(log->operations.count))
    nvmi_apply_all(log);
}

/* Bits of the words in `mask`; `ragged` when some word is there in part. */
static inline unsigned nvmi_whole_words(uint64_t mask, bool *ragged) {
  uint64_t lowest = mask & UINT64_C(0x0101010101010101);
  *ragged = lowest * 0xff != mask;
  return (unsigned)(lowest * UINT64_C(0x0102040810204080) >> 56);
}

/* Bytes that nvmi_encode_line takes, by no estimate. */
static inline size_t nvmi_encoded_size(uint64_t mask) {
  bool ragged;
  unsigned words = nvmi_whole_words(mask, &ragged), bytes = (unsigned)__builtin_popcountll(mask);
  return ragged ? 16 + ((bytes + 7) & ~7u) : 8 + 8 * (unsigned)__builtin_popcount(words);
}

/* Puts the bytes of `mask` at `at`, aligned to 8; gives the end. */
char *nvmi_encode_ragged(char *at, uint64_t offset, const char *bytes, uint64_t mask);
static inline char *nvmi_encode_line(char *at, uint64_t offset, const char *bytes, uint64_t mask) {
  bool ragged;
  unsigned words = nvmi_whole_words(mask, &ragged);
  if (NVMI_UNLIKELY(ragged))
    return nvmi_encode_ragged(at, offset, bytes, mask);
  uint64_t head = offset >> 6 << 16 | words;
  memcpy(at, &head, 8);
  for (at += 8; words; words &= words - 1, at += 8)
    memcpy(at, bytes + 8 * __builtin_ctz(words), 8);
  return at;
}

static inline struct nvm_frame *nvmi_stage(struct nvmi_log *log) {
  return (struct nvm_frame *)log->stage;
}

/* A short record: begin (false: another log is there), fill from nvmi_short_payload on, end (false:
 * the log could not grow, the record is void), fence, durable, store in place, leave the section.
 */
static inline char *nvmi_short_payload(struct nvmi_log *log) {
  return (char *)(nvmi_stage(log) + 1);
}

static inline bool nvmi_short_begin(struct nvmi_log *log) {
  if (NVMI_UNLIKELY(!nvmi_solo_enter(log))) {
    nvmi_solo_leave(log);
    return false;
  }
  uint64_t bound = atomic_load_explicit(&log->pending, memory_order_relaxed) >> 1;
  if (!bound) {
    bound = atomic_load_explicit(&log->pool->order, memory_order_relaxed);
    atomic_store_explicit(&log->pending, bound << 1, memory_order_relaxed);
  }
  nvmi_stage(log)->bound = bound;
  nvmi_stage(log)->order = nvmi_log_order(log, true);
  return true;
}

void nvmi_record_void(struct nvmi_log *log);
/* Of a segment behind a frame of a record. */
static inline size_t nvmi_kept_behind(bool is_short) {
  return is_short ? NVMI_ROOM_FOR_VOID : NVMI_ROOM_FOR_NESTED;
}
static inline bool nvmi_short_end(struct nvmi_log *log, struct nvmi_cursor *cursor,
                                  enum nvm_frame_kind kind, const char *end) {
  struct nvm_frame *frame = nvmi_stage(log);
  uint64_t used = (uint64_t)(end - nvmi_short_payload(log));
  frame->shape = NVM_FRAME_SHAPE(kind, log->operations.count, used);
  uint16_t entries = kind == NVM_FRAME_COMMIT_CHECKED ? (uint16_t)cursor->fenced : 0;
  if (NVMI_LIKELY(nvmi_log_put(log, cursor, frame, entries, nvmi_kept_behind(used <= 1024))))
    return true;
  nvmi_record_void(log);
  return false;
}

static inline void nvmi_short_durable(struct nvmi_log *log) {
  atomic_store_explicit(&log->pending, nvmi_stage(log)->order << 1, memory_order_release);
}
