/* counts_log.c: activation records: one for each transaction that changes references, in a circular
 * log of NVM_RING_LINES lines (counts.h). Room is taken under a lock, in whole lines; records are
 * written, committed and counted beside each other. */
#define _GNU_SOURCE
#include "gc/counts.h"

#include "base/holes.h"
#include "base/kill.h"
#include "base/own_threads.h"
#include "base/signals.h"
#include "gc/changes.h"
#include "log/log.h"
#include "log/log_read.h"

#include <sched.h>
#include <string.h>

enum { THREAD_AT = 4096 }; /* lines that wait: then the thread is worth waking */

static char *line_at(const struct nvmi_counts *counts, uint64_t position) {
  return counts->ring + position % NVM_RING_LINES * NVM_RING_LINE;
}

static uint64_t lines_of(uint64_t changes) {
  return (sizeof(struct nvm_activation) + changes * sizeof(struct nvm_reference) + NVM_RING_LINE -
          1) /
         NVM_RING_LINE;
}

/* One aligned word, fenced before the change that is not counted is stored or committed. Another
 * thread's fence may still be under way: who does not know the word to be durable fences it, too.
 */
static void write_stale(struct nvmi_counts *counts, uint64_t number) {
  uint64_t *exact = &counts->head->exact;
  __atomic_store_n(exact, number, __ATOMIC_SEQ_CST);
  counts->pool->persist->flush(exact, sizeof *exact);
  counts->pool->persist->fence();
  atomic_store(&counts->stale, true);
}

uint64_t nvmi_counts_say_stale(struct nvmi_counts *counts) {
  uint64_t number = atomic_fetch_add(&counts->spoiled, 1) + 1;
  write_stale(counts, number);
  return number;
}

/* Counted first, looked at then: see say_exact (counts_anew.c). */
void nvmi_counts_spoil(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  uint64_t number = atomic_fetch_add(&counts->spoiled, 1) + 1;
  if (!atomic_load(&counts->stale))
    write_stale(counts, number);
}

static void *count_on(void *argument) {
  struct nvmi_counts *counts = argument;
  nvmi_lock(&counts->append);
  while (!counts->stop) {
    if (counts->end - counts->done < THREAD_AT) {
      nvmi_wait(&counts->wake, &counts->append, NVMI_OWN_THREAD_LOOKS_MS);
      nvmi_unlock(&counts->append);
      nvmi_own_thread_looks();
      nvmi_lock(&counts->append);
      continue;
    }
    nvmi_unlock(&counts->append);
    if (!nvmi_counts_step(counts))
      sched_yield();
    nvmi_lock(&counts->append);
  }
  nvmi_unlock(&counts->append);
  return NULL;
}

/* Without a thread commits count for themselves, when the log is full. Signals are the program's.
 */
static void wake(struct nvmi_counts *counts) {
  if (!counts->has_thread) {
    sigset_t before = nvmi_signals_hold();
    counts->has_thread = pthread_create(&counts->thread, NULL, count_on, counts) == 0;
    if (counts->has_thread)
      nvmi_own_thread_began();
    nvmi_signals_release(&before);
  }
  pthread_cond_signal(&counts->wake);
}

/* Room for a record; the log being full, waits until enough of it is counted. */
static uint64_t reserve(struct nvmi_counts *counts, uint64_t lines) {
  nvmi_lock(&counts->append);
  while (counts->end - counts->done + lines > NVM_RING_LINES) {
    nvmi_unlock(&counts->append);
    if (!nvmi_counts_step(counts))
      sched_yield(); /* the oldest is of a commit that has not ended */
    nvmi_lock(&counts->append);
  }
  uint64_t position = counts->end;
  counts->lines[position % NVM_RING_LINES] = (uint16_t)lines;
  counts->state[position % NVM_RING_LINES] = NVMI_RECORD_OPEN;
  counts->end = position + lines;
  if (counts->end - counts->done >= THREAD_AT && counts->end - counts->done - lines < THREAD_AT)
    wake(counts);
  nvmi_unlock(&counts->append);
  return position;
}

static bool cover_all(struct nvmi_log *log) {
  const struct nvmi_array *changes = &nvmi_count_scratch(log)->references;
  const struct nvm_reference *references = changes->items;
  bool covered = true;
  for (size_t i = 0; i < changes->count && covered; i++)
    covered = !references[i].after || nvmi_counts_cover(log->pool->counts, references[i].after);
  return covered;
}

/* What lies further behind is counted: its room was used again. */
static uint32_t lines_behind(const struct nvmi_count_scratch *scratch, uint64_t position) {
  uint64_t behind = scratch->last ? position + 1 - scratch->last : 0;
  return behind <= NVM_RING_LINES ? (uint32_t)behind : 0;
}

/* Streams the record in one piece or, at the log's end, two. */
static void put(struct nvmi_log *log, uint64_t position, uint64_t lines) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_counts *counts = pool->counts;
  const struct nvmi_count_scratch *scratch = nvmi_count_scratch(log);
  uint64_t changes = scratch->references.count, size = changes * sizeof(struct nvm_reference);
  struct nvm_activation *record = scratch->record.items;
  *record = (struct nvm_activation){.position = position,
                                    .transaction = log->cursor->transaction << 16 | log->slot,
                                    .count = (uint32_t)changes,
                                    .behind = lines_behind(scratch, position)};
  memcpy(record + 1, scratch->references.items, size);
  memset((char *)(record + 1) + size, 0, lines * NVM_RING_LINE - sizeof *record - size);
  record->check =
      nvmi_check_by(&pool->key, &record->position, sizeof *record - sizeof record->check + size);
  uint64_t first = NVM_RING_LINES - position % NVM_RING_LINES;
  first = first < lines ? first : lines;
  pool->persist->stream(line_at(counts, position), record, first * NVM_RING_LINE);
  if (first < lines)
    pool->persist->stream(counts->ring, (char *)record + first * NVM_RING_LINE,
                          (lines - first) * NVM_RING_LINE);
}

static enum nvm_error append(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_counts *counts = pool->counts;
  struct nvmi_count_scratch *scratch = nvmi_count_scratch(log);
  scratch->activation = 0;
  if (pool->method->entries && log->owner->node)
    nvmi_counts_spoil(pool); /* bytes in place may be another thread's already */
  if (atomic_load_explicit(&counts->stale, memory_order_acquire))
    return NVM_OK;
  enum nvm_error error = nvmi_changes(log, lines, count);
  if (error || !scratch->references.count)
    return error;
  if (scratch->references.count > NVM_ACTIVATION_MAX) {
    nvmi_counts_spoil(pool);
    return NVM_OK;
  }
  uint64_t need = lines_of(scratch->references.count);
  if (!cover_all(log))
    return nvm_errno();
  if (!nvmi_array_reserve(&scratch->record, need * NVM_RING_LINE, 1)) {
    nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for a transaction's references");
    return NVM_ENOMEMORY;
  }
  uint64_t position = reserve(counts, need);
  put(log, position, need);
  nvmi_step(NVMI_STEP_COUNT);
  /* Crash before this fence: the transaction did not commit, what there is of the record is passed
   * over. After: as the transaction's own record says. */
  nvmi_fence(log);
  nvmi_step(NVMI_STEP_COUNT);
  scratch->activation = position + 1;
  return NVM_OK;
}

/* The commit failed: the record must not be there when its transaction's number has ended, as the
 * end of an abort will say. */
static void make_void(struct nvmi_log *log, uint64_t position) {
  uint64_t *check = (uint64_t *)line_at(log->pool->counts, position);
  __atomic_store_n(check, 0, __ATOMIC_RELAXED);
  log->pool->persist->flush(check, sizeof *check);
  nvmi_fence(log);
}

static void ended(struct nvmi_log *log, bool committed) {
  struct nvmi_count_scratch *scratch = nvmi_count_scratch(log);
  if (!scratch->activation)
    return;
  uint64_t position = scratch->activation - 1;
  scratch->activation = 0;
  if (committed)
    scratch->last = position + 1;
  else
    make_void(log, position);
  atomic_store_explicit(&log->pool->counts->state[position % NVM_RING_LINES],
                        committed ? NVMI_RECORD_DONE : NVMI_RECORD_VOID, memory_order_release);
}

static void types_changed(struct nvm_pool *pool) {
  nvmi_counts_spoil(pool);
  memset(pool->counts->plain, 0, sizeof pool->counts->plain);
}

static void stand_still(struct nvm_pool *pool) { nvmi_lock(&pool->counts->count); }

static void go_on(struct nvm_pool *pool) { nvmi_unlock(&pool->counts->count); }

const struct nvmi_follower nvmi_counts_follower = {.before_commit = append,
                                                   .ended = ended,
                                                   .lost_track = nvmi_counts_spoil,
                                                   .types_changed = types_changed,
                                                   .pause = stand_still,
                                                   .go_on = go_on};

/* A record of this generation that begins in this line, or null. It may run over the log's end. */
static const struct nvm_activation *record_at(struct nvmi_counts *counts, uint64_t position,
                                              struct nvmi_array *copy) {
  const struct nvm_activation *record = (const void *)line_at(counts, position);
  if (record->position != position || !record->count || record->count > NVM_ACTIVATION_MAX ||
      (record->transaction & 0xffff) >= NVM_SLOTS_MAX)
    return NULL;
  uint64_t lines = lines_of(record->count), first = NVM_RING_LINES - position % NVM_RING_LINES;
  if (!nvmi_array_reserve(copy, lines * NVM_RING_LINE, 1))
    return NULL;
  first = first < lines ? first : lines;
  memcpy(copy->items, record, first * NVM_RING_LINE);
  memcpy((char *)copy->items + first * NVM_RING_LINE, counts->ring,
         (lines - first) * NVM_RING_LINE);
  record = copy->items;
  size_t size =
      sizeof *record - sizeof record->check + record->count * sizeof(struct nvm_reference);
  return record->check == nvmi_check_by(&counts->pool->key, &record->position, size) ? record
                                                                                     : NULL;
}

void nvmi_counts_ended(struct nvm_pool *pool, unsigned slot, uint64_t transaction) {
  uint64_t *ended = &pool->counts->ended[slot];
  if (*ended + 1 < transaction + 1)
    *ended = transaction;
}

/* Whether damage took the one before away: each says where its log's last one was, which was durable. */
static bool is_hole_before(struct nvmi_counts *counts, const struct nvm_activation *record,
                           uint64_t from, uint64_t at) {
  struct nvmi_count_scratch *scratch = &counts->scratch[record->transaction & 0xffff];
  uint64_t before = at - record->behind, last = scratch->last;
  scratch->last = at + 1;
  return record->behind && record->behind <= at && before >= from && last != before + 1;
}

/* A stretch of the file, in bytes. */
struct stretch {
  uint64_t from, end;
};

/* How many lines from here on are holes of the file. They hold no record: one that counts was durable before its
 * transaction committed, a page that was stored to is data even before it is on the disk, and zeros are no record.
 * Nothing that recovery has stored in a private view so far lies in this log. `data`: what was found last. */
static uint64_t lines_of_hole(const struct nvmi_counts *counts, uint64_t position,
                              struct stretch *data) {
  const struct nvm_pool *pool = counts->pool;
  uint64_t ring = (uint64_t)(counts->ring - pool->home);
  uint64_t at = ring + position % NVM_RING_LINES * NVM_RING_LINE;
  uint64_t most = ring + (uint64_t)NVM_RING_LINES * NVM_RING_LINE;
  if (data->from <= at && at < data->end)
    return 0;
  data->from = at;
  if (!nvmi_next_data(pool->fd, &data->from, &data->end, most))
    data->from = data->end = most;
  return (data->from - at) / NVM_RING_LINE;
}

static void set_void(struct nvmi_counts *counts, uint64_t from, uint64_t to) {
  for (; from < to; from++) {
    counts->lines[from % NVM_RING_LINES] = 1;
    atomic_store_explicit(&counts->state[from % NVM_RING_LINES], NVMI_RECORD_VOID,
                          memory_order_relaxed);
  }
}

/* Finds the records that are left, tries every line: one that was not finished hides none behind
 * it. Then counts those whose transactions committed. A crash in here is followed by the same
 * again, from where the last batch says. Where one is missing the tables are not exact any more. */
int nvmi_counts_recover(struct nvm_pool *pool) {
  struct nvmi_counts *counts = pool->counts;
  struct nvmi_array copy = {0};
  uint64_t from = counts->done, at = from;
  struct stretch data = {0};
  bool has_hole = false;
  while (at < from + NVM_RING_LINES) {
    at += lines_of_hole(counts, at, &data);
    const struct nvm_activation *record =
        at < from + NVM_RING_LINES ? record_at(counts, at, &copy) : NULL;
    if (!record) {
      at++;
      continue;
    }
    has_hole = has_hole || is_hole_before(counts, record, from, at);
    set_void(counts, counts->end, at);
    bool ended = record->transaction >> 16 <= counts->ended[record->transaction & 0xffff];
    counts->lines[at % NVM_RING_LINES] = (uint16_t)lines_of(record->count);
    atomic_store_explicit(&counts->state[at % NVM_RING_LINES],
                          ended ? NVMI_RECORD_DONE : NVMI_RECORD_VOID, memory_order_relaxed);
    counts->recovered += ended;
    counts->end = at += lines_of(record->count);
  }
  nvmi_array_free(&copy, 1);
  if (has_hole)
    nvmi_counts_say_stale(counts);
  nvmi_counts_drain(pool);
  counts->candidates_lost = true;
  return 0;
}
