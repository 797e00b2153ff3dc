/* redo_commit.c: see redo_commit.h; here the long record. docs/internals/crash-consistency.md, S1 to S5,
 * has the argument. */
#include "methods/redo_commit.h"

#include "base/kill.h"
#include "base/signals.h"
#include "core/follower.h"
#include "core/map.h"
#include "judge/pointers.h"
#include "tx/direct.h"
#include "tx/dram_limit.h"
#include "types/compare.h"

static void add_to_record(void *record, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  nvmi_record_line(record, offset, pool->work + offset, mask);
}

static void add_captured(struct nvmi_record *record, size_t from, size_t to) {
  const struct nvmi_captured *captured = record->log->captured.items;
  for (size_t i = from; i < to; i++)
    if (NVMI_LIKELY(captured[i].mask)) /* else all of it was dropped (core/alias.h) */
      nvmi_record_line(record, nvmi_captured_offset(record->log, &captured[i]), captured[i].bytes,
                       captured[i].mask);
}

/* What signal handlers have stored since the lines were collected; null: not in this pool. */
static const struct nvmi_line *late_item(const struct nvmi_log *log, size_t i) {
  const struct nvmi_line *item = (const struct nvmi_line *)log->owner->nested.items + i;
  return nvmi_pool_at((void *)(nvmi_line_first(item) << 6)) == log->pool ? item : NULL;
}

/* A handler may have stored to lines that are in the record already, or went directly; then all it
 * stored joins them. Gives how many items that are. */
static size_t add_late(struct nvmi_record *record) {
  size_t i = 0;
  for (; NVMI_UNLIKELY(i < record->log->owner->nested.count); i++) {
    const struct nvmi_line *item = late_item(record->log, i);
    if (item)
      nvmi_shadow_each_line(record->log->pool, item, 1, add_to_record, record);
  }
  return i;
}

/* All that the record has is stored in place: a bound may pass it before the next commit. */
static void store_late(const struct nvmi_log *log, size_t late) {
  for (size_t i = 0; NVMI_UNLIKELY(i < late); i++)
    if (late_item(log, i))
      nvmi_direct_item(log->pool, late_item(log, i));
}

/* A handler's stores since the record was put together are no part of it, and some may be in place
 * with it. A replay of the record takes those back: so before anything says that it need not be
 * replayed, they become a transaction of their own, whole, as the handler has returned. Signals wait
 * meanwhile: while the record comes to a disk more would come, and each asks for one more record. */
void nvmi_redo_commit_behind(struct nvmi_log *log, size_t late) {
  const volatile size_t *stored = &log->owner->nested.count;
  if (NVMI_LIKELY(*stored == late))
    return;
  sigset_t before = nvmi_signals_hold();
  log->operations.count = 0;
  if (nvmi_redo_commit(log, NULL, 0))
    nvmi_fatal(NVM_ENOSPACE, log->pool->path,
               "no room for what a signal handler stored while a transaction committed");
  nvmi_signals_release(&before);
}

static void count_page(void *unused, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  (void)unused, (void)mask;
  nvmi_dram_limit_wrote(pool, offset);
}

/* The number of a record that did not fit is used up: an empty one takes its place, durable before
 * the next begins, or that would look as if one were missing (log_end.c). It says that the
 * transaction has ended: what a follower has written down for it must be gone before. */
static void say_void(struct nvmi_log *log) {
  struct nvmi_record record;
  if (log->pool->follower)
    log->pool->follower->ended(log, false);
  nvmi_record_begin(&record, log, log->cursor, false);
  if (!nvmi_record_end(&record))
    nvmi_fatal(NVM_ENOSPACE, log->pool->path, "no room in the log for the end of a transaction");
  nvmi_fence(log);
}

enum nvm_error nvmi_redo_commit(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_record record;
  if (!atomic_load_explicit(&log->pending, memory_order_relaxed) && nvmi_log_is_far(log))
    nvmi_log_switch(log); /* which waits for what is announced */
  nvmi_record_begin(&record, log, log->cursor, true);
  const uint64_t *operation = log->operations.items;
  for (size_t i = 0; i < log->operations.count; i++)
    nvmi_record_operation(&record, operation[i]);
  size_t older = log->captured.count - log->alias.count;
  add_captured(&record, 0, older);
  for (size_t i = 0, next = 0; i < count; i++) {
    nvmi_direct_fetch(pool, lines, i, count);
    if (!nvmi_direct_went(log, i, &next))
      nvmi_shadow_each_line(pool, &lines[i], 1, add_to_record, &record);
  }
  add_captured(&record, older, log->captured.count);
  size_t late = add_late(&record);
  nvmi_check_late(log, 0, late); /* what comes meanwhile: nvmi_redo_commit_behind */
  nvmi_step(NVMI_STEP_COMMIT);
  bool ended = nvmi_record_end(&record);
  if (!ended && !pool->persist->record) /* there the end of the record has said it */
    say_void(log);
  log->cursor->transaction++;
  if (!ended)
    return NVM_ENOSPACE;
  /* Crash before this fence: the record is whole or it is not. After: committed. */
  nvmi_record_fence(log, record.order, record.solo);
  log->bank_tells = true;
  nvmi_record_durable(&record);
  nvmi_step(NVMI_STEP_COMMIT);
  nvmi_log_begin_behind(log);
  nvmi_redo_store_captured(log);
  for (size_t i = 0, next = 0; i < count; i++)
    if (!nvmi_direct_went(log, i, &next)) {
      nvmi_direct_item(pool, &lines[i]);
      log->stats.flushed_lines += nvmi_line_count(&lines[i]);
    }
  store_late(log, late);
  nvmi_apply_operations(log);
  bool is_behind = nvmi_log_end_behind(log);
  nvmi_redo_commit_behind(log, late);
  nvmi_step(NVMI_STEP_COMMIT);
  /* Crash before this fence: the record is replayed, no bound lies above it. After: it is in place.
   * What is put behind is so at the next checkpoint. */
  if (!is_behind)
    nvmi_fence(log);
  atomic_store_explicit(&log->pending, 0, memory_order_release);
  nvmi_solo_leave(log);
  nvmi_step(NVMI_STEP_COMMIT);
  if (NVMI_UNLIKELY(pool->compare))
    nvmi_compare(pool);
  if (NVMI_UNLIKELY(pool->written)) {
    nvmi_shadow_each_line(pool, lines, count, count_page, NULL);
    nvmi_dram_limit_keep(log);
  }
  return NVM_OK;
}
