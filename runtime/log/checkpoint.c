/* checkpoint.c: see checkpoint.h. */
#include "log/checkpoint.h"

#include "log/redo.h"

#include <assert.h>
#include <sched.h>

/* What the owner stored last may be waited for by nobody yet; all before it was fenced along with
 * the record that followed. */
static bool flush_last(const struct nvm_pool *pool, const struct nvmi_log *log) {
  uint64_t last = atomic_load_explicit(&log->last, memory_order_acquire);
  if (last)
    nvmi_redo_flush(pool, (const struct nvm_frame *)(log->copy + (last >> 32)));
  return last;
}

static void fence_last(const struct nvm_pool *pool) {
  bool some = false;
  unsigned count = atomic_load_explicit(&pool->log_count, memory_order_acquire);
  for (unsigned i = 0; i < count; i++)
    some |= flush_last(pool, atomic_load_explicit(&pool->logs[i], memory_order_relaxed));
  if (some)
    pool->persist->fence();
}

/* First the bound, then the logs: a commit announces itself before it takes its number, and is
 * announced until it has stored in place and published its record. So of what lies below the bound
 * each is published; it is its log's last, or its owner has fenced since. On a disk: what each has
 * stored in place was put behind before, and the sync of the whole file has it.
 * Crash before the fence: no record tells of the new bound yet, all are replayed from the old one.
 * After: what lies below it is in place. */
uint64_t nvmi_checkpoint(struct nvm_pool *pool) {
  nvmi_lock(&pool->checkpointing);
  uint64_t bound = nvmi_log_bound(pool);
  if (pool->persist->behind)
    pool->persist->behind->fence(pool->home);
  else
    fence_last(pool);
  assert(bound <= pool->order);
  nvmi_log_raise_bound(pool, bound);
  nvmi_unlock(&pool->checkpointing);
  return bound;
}

/* A pool of 64 MiB, used by one thread: 1 MiB in each of two banks; four times as much where commits
 * do not wait: a bank is full so much sooner, and pages that were stored to often are written once. */
static uint64_t bank_max(const struct nvm_pool *pool) {
  enum { SHARE = 64, BANK_MAX = 4 << 20, DELAYED = 4 };
  unsigned logs = atomic_load_explicit(&pool->log_count, memory_order_relaxed);
  uint64_t share = pool->header.heap_size / SHARE / (logs ? logs : 1);
  return (share < BANK_MAX ? share : BANK_MAX) * (pool->persist->record ? DELAYED : 1);
}

/* A checkpoint costs as much as many records do there. */
static bool may_grow(const struct nvmi_log *log) {
  const struct nvm_pool *pool = log->pool;
  if (!pool->persist->behind)
    return false;
  uint64_t bytes = log->cursor->at;
  for (const struct nvm_segment *s = log->first[log->bank]; s != log->cursor->segment;
       s = (const struct nvm_segment *)(pool->home + s->next))
    bytes += s->size;
  return bytes < bank_max(pool);
}

bool nvmi_log_is_far(const struct nvmi_log *log) {
  const struct nvmi_cursor *cursor = log->cursor;
  if (NVMI_UNLIKELY(log->pool->persist->behind != NULL))
    return !may_grow(log);
  return cursor->segment != log->first[log->bank] || cursor->at > cursor->segment->size / 2;
}

/* The copy begins anew: a checkpoint does not read it. */
bool nvmi_log_make_room(struct nvmi_log *log, size_t size) {
  struct nvmi_cursor *cursor = log->cursor;
  if (!may_grow(log))
    return nvmi_log_switch(log);
  log->bank_tells |= log->last != 0;
  log->last = 0;
  return cursor->at + size <= cursor->segment->size || nvmi_log_extend(log, cursor) ||
         nvmi_log_switch(log);
}

/* All records of this bank are below a bound before the first of the other begins; so each of those tells
 * a bound above them, and is durable before the log comes back here. Crash while a bank is
 * overwritten: a record of the other is found, and hides what is left of the older ones. */
bool nvmi_log_switch(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  if (!log->last && !log->bank_tells)
    return false;
  uint64_t all = atomic_load(&pool->order);
  while (nvmi_checkpoint(pool) < all)
    sched_yield();
  nvmi_lock(&pool->checkpointing);
  log->last = 0;
  nvmi_unlock(&pool->checkpointing);
  struct nvmi_cursor *cursor = log->cursor;
  log->bank_tells = false;
  log->bank = !log->bank;
  cursor->segment = log->first[log->bank];
  cursor->at = sizeof *cursor->segment;
  return true;
}
