/* record.c: commit records of any size, built in DRAM, frame by frame, and streamed: never read
 * back.
 *
 * `pending` tells other threads'
 * records which commits may still have to be replayed (docs/internals/crash-consistency.md,
 * S2).
 */
#include "log/record.h"
#include "core/follower.h"
#include "log/log.h"

#include <string.h>

static void flush_line(struct nvmi_log *log, uint64_t line) {
  log->pool->persist->flush(log->pool->home + line * NVM_LINE_SIZE, NVM_LINE_SIZE);
  log->stats.flushed_lines++;
}

/* Gives its line. */
static uint64_t apply(struct nvmi_log *log, uint64_t operation) {
  uint64_t at = operation >> 16;
  __atomic_store_n((uint16_t *)(log->pool->home + at), (uint16_t)operation, __ATOMIC_RELAXED);
  return at / NVM_LINE_SIZE;
}

/* Many lie in few lines: each of those is flushed when another takes its slot, or at the end. */
static void apply_many(struct nvmi_log *log) {
  enum { SLOTS = 16 };
  const uint64_t *operations = log->operations.items;
  uint64_t dirty[SLOTS] = {0}; /* lines of the file; none is the first */
  for (size_t i = 0; i < log->operations.count; i++) {
    uint64_t line = apply(log, operations[i]);
    uint64_t *slot = &dirty[(line ^ line / 256) % SLOTS]; /* spans begin at multiples of 256 */
    if (*slot && *slot != line)
      flush_line(log, *slot);
    *slot = line;
  }
  for (unsigned i = 0; i < SLOTS; i++)
    if (dirty[i])
      flush_line(log, dirty[i]);
}

void nvmi_apply_all(struct nvmi_log *log) {
  enum { FEW = 4 };
  const uint64_t *operations = log->operations.items;
  size_t count = log->operations.count;
  if (count > FEW) {
    apply_many(log);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t line = apply(log, operations[i]);
    if (i + 1 == count || (operations[i + 1] >> 16) / NVM_LINE_SIZE != line)
      flush_line(log, line);
  }
}

static char *payload_of(const struct nvmi_record *record) {
  return nvmi_short_payload(record->log);
}

/* What a record may tell. With shadow the last records of other logs are in place, and perhaps not
 * durable there: the last checkpoint's bound, no more. */
static uint64_t bound_to_tell(struct nvm_pool *pool) {
  return pool->method->entries ? nvmi_log_bound(pool) : atomic_load(&pool->bound);
}

void nvmi_record_begin(struct nvmi_record *record, struct nvmi_log *log, struct nvmi_cursor *cursor,
                       bool replay) {
  *record = (struct nvmi_record){.log = log, .cursor = cursor};
  struct nvm_pool *pool = log->pool;
  if (!replay) {
    /* The bound all the same: this record may overwrite the last one that says so of another log's.
     */
    record->bound = bound_to_tell(pool);
    return;
  }
  record->solo = nvmi_solo_enter(log);
  /* Announce first, then take the number: see nvmi_log_bound. An older announcement of this log
   * stays until the fence that also covers its stores. */
  uint64_t oldest = atomic_load_explicit(&log->pending, memory_order_relaxed) >> 1;
  if (!oldest)
    oldest = atomic_load_explicit(&pool->order, memory_order_relaxed);
  atomic_store_explicit(&log->pending, oldest << 1 | !record->solo, memory_order_relaxed);
  record->order = nvmi_log_number(log, record->solo);
  record->bound = record->solo && pool->method->entries ? oldest : bound_to_tell(pool);
}

static void put(struct nvmi_record *record, enum nvm_frame_kind kind, uint16_t part) {
  struct nvm_frame *frame = nvmi_stage(record->log);
  frame->order = record->order;
  frame->bound = record->bound;
  unsigned packed = record->log->pool->method->entries ? 0 : NVM_FRAME_PACKED;
  frame->shape = NVM_FRAME_SHAPE(kind | packed, record->operations, record->used);
  bool is_short = kind != NVM_FRAME_REDO && !record->frames && record->used <= 1024;
  size_t kept = kind == NVM_FRAME_VOID || !record->order ? 0 : nvmi_kept_behind(is_short);
  if (!record->full && !nvmi_log_put(record->log, record->cursor, frame, part, kept))
    record->full = true;
  record->used = 0;
  record->operations = 0;
}

static void make_room(struct nvmi_record *record, uint32_t bytes) {
  if (NVMI_LIKELY(record->used + bytes <= NVMI_PAYLOAD_MAX))
    return;
  put(record, NVM_FRAME_REDO, record->frames);
  record->frames++;
  if (record->frames == UINT16_MAX)
    record->full = true; /* half a gigabyte changed in one transaction of the shadow method */
}

void nvmi_record_operation(struct nvmi_record *record, uint64_t operation) {
  make_room(record, sizeof operation);
  memcpy(payload_of(record) + record->used, &operation, sizeof operation);
  record->used += sizeof operation;
  record->operations++;
}

char *nvmi_encode_ragged(char *at, uint64_t offset, const char *bytes, uint64_t mask) {
  char *start = at;
  uint64_t head = offset >> 6 << 16 | NVM_LINE_BYTES;
  memcpy(at, &head, 8);
  memcpy(at + 8, &mask, 8);
  at += 16;
  for (uint64_t left = mask; left;) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    if (i % 8 == 0 && (left >> i & 0xff) == 0xff) {
      memcpy(at, bytes + i, 8);
      left &= ~(UINT64_C(0xff) << i);
      at += 8;
    } else {
      *at++ = bytes[i];
      left &= left - 1;
    }
  }
  while ((at - start) & 7)
    *at++ = 0;
  return at;
}

void nvmi_record_line(struct nvmi_record *record, uint64_t offset, const void *bytes,
                      uint64_t mask) {
  make_room(record, NVMI_LINE_PAYLOAD_MAX);
  char *start = payload_of(record),
       *end = nvmi_encode_line(start + record->used, offset, bytes, mask);
  record->used = (uint32_t)(end - start);
}

/* No record, but the next one goes where the one before this stands: what that one stored in place
 * must be there first. */
void nvmi_record_void(struct nvmi_log *log) {
  nvmi_fence(log);
  atomic_store_explicit(&log->pending, 0, memory_order_release);
  nvmi_solo_leave(log);
}

void nvmi_record_delayed(struct nvmi_log *log, uint64_t order, bool solo) {
  log->pool->persist->record(log->pool->home, order + 1);
  if (!solo)
    nvmi_unlock(&log->pool->numbering);
}

/* The number is used up: a frame says so, or it would look as if its record were missing. What a follower
 * has written down for the transaction must be gone before. */
static void void_number(struct nvmi_record *record) {
  struct nvmi_log *log = record->log;
  if (log->pool->follower)
    log->pool->follower->ended(log, false);
  record->full = false;
  put(record, NVM_FRAME_VOID, 0);
  if (record->full)
    nvmi_fatal(NVM_ENOSPACE, log->pool->path, "no room in the log for the end of a transaction");
  record->full = true;
  nvmi_record_fence(log, record->order, record->solo);
}

bool nvmi_record_end(struct nvmi_record *record) {
  put(record, NVM_FRAME_COMMIT, record->frames);
  if (record->full && record->order && record->log->pool->persist->record)
    void_number(record);
  if (record->full && record->order)
    nvmi_record_void(record->log);
  return !record->full;
}

void nvmi_record_durable(struct nvmi_record *record) {
  if (record->order)
    atomic_store_explicit(&record->log->pending, record->order << 1 | !record->solo,
                          memory_order_release);
}

void nvmi_record_issued(struct nvmi_record *record) {
  if (!record->order)
    return;
  struct nvmi_log *log = record->log;
  if (!record->solo) {
    /* The caller returns when no record up to this one is replayed any more: then another thread
     * may write over it, and overwrite its own record of that. */
    nvmi_fence(log);
    atomic_store_explicit(&log->pending, 0, memory_order_release);
    nvmi_log_await(log->pool, record->order);
  }
  nvmi_solo_leave(log);
}
