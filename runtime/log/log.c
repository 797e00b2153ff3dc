/* log.c: banks, segments and frames.
 *
 * A frame's place is taken before it is written, by one instruction, so a signal handler that
 * appends in between gets the place behind; recovery looks at every line and is not stopped by an
 * unfinished frame (docs/internals/pool-format.md). Segments are runs of heap chunks; a log keeps
 * those it once had until the pool is closed.
 */
#define _GNU_SOURCE
#include "log/log.h"

#include "base/invariant.h"
#include "base/signals.h"
#include "core/barrier.h"
#include "core/header.h"
#include "core/quick.h"
#include "core/root_hooks.h"
#include "log/log_read.h"
#include "log/record.h"

#include "core/tracing.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  SEGMENT_FIRST =
      16 << 10, /* bytes of a bank's first segment: 400 small entries; two for each thread */
  SEGMENT_LAST = 4 << 20 /* from here on segments stop doubling */
};

uint64_t nvmi_segment_check(const struct nvm_pool *pool, const struct nvm_segment *segment) {
  return nvmi_check(&segment->self,
                    offsetof(struct nvm_segment, reserved) - offsetof(struct nvm_segment, self),
                    pool->id_seed);
}

bool nvmi_segment_valid(const struct nvm_pool *pool, uint64_t at, unsigned slot, unsigned bank,
                        unsigned position) {
  const struct nvm_header *h = &pool->header;
  if (at < h->heap_offset || at % NVM_CHUNK_SIZE != h->heap_offset % NVM_CHUNK_SIZE ||
      at + NVM_CHUNK_SIZE > h->heap_offset + h->heap_size)
    return false;
  const struct nvm_segment *segment = (const void *)(pool->home + at);
  return segment->check == nvmi_segment_check(pool, segment) && segment->self == at &&
         segment->slot == slot && segment->bank == bank && segment->position == position &&
         segment->size % NVM_CHUNK_SIZE == 0 && segment->size <= h->heap_offset + h->heap_size - at;
}

/* Makes a segment and links it at `link` (a word of the file).
 * Crash before the link is durable: a run of kind LOG that no chain reaches, freed by the next
 * rebuild. The header is fenced before the link, so a chain never leads to a segment that is not
 * whole. The link is fenced along with the first frame behind it, or by make_log;
 * where commits do not wait, the one whose record that frame belongs to waits (platform/sync.h). */
static struct nvm_segment *make_segment(struct nvm_pool *pool, uint64_t *link, uint64_t size,
                                        uint32_t slot, uint32_t bank, uint32_t position) {
  uint64_t at = pool->own_run(pool, NVM_CHUNK_LOG, size >> NVM_CHUNK_SHIFT);
  if (!at)
    return NULL;
  struct nvm_segment fresh = {
      .self = at, .size = size, .slot = slot, .bank = bank, .position = position};
  fresh.check = nvmi_segment_check(pool, &fresh);
  pool->persist->stream(pool->home + at, &fresh, sizeof fresh);
  pool->persist->fence();
  *(volatile uint64_t *)link = at;
  pool->persist->flush(link, sizeof *link);
  return (struct nvm_segment *)(pool->home + at);
}

static struct nvm_log_slot *slot_of(const struct nvmi_log *log) {
  return (struct nvm_log_slot *)(log->pool->home + NVM_SLOTS_OFFSET) + log->slot;
}

/* Signals wait: a handler must find segment and place changed together. */
bool nvmi_log_extend(struct nvmi_log *log, struct nvmi_cursor *cursor) {
  struct nvm_segment *full = cursor->segment, *next = NULL;
  sigset_t before = nvmi_signals_hold();
  if (cursor->segment != full) { /* a handler was here first */
    next = cursor->segment;
  } else if (full->next) {
    next = (struct nvm_segment *)(log->pool->home + full->next);
  } else if (!log->owner->in_heap) {
    uint64_t size = full->size < SEGMENT_LAST ? 4 * full->size : full->size;
    log->owner->in_heap++;
    next = make_segment(log->pool, &full->next, size, log->slot, full->bank, full->position + 1);
    log->owner->in_heap--;
  }
  if (next && next != cursor->segment) {
    cursor->segment = next;
    cursor->at = sizeof *next;
  }
  nvmi_signals_release(&before);
  return next != NULL;
}

void nvmi_log_cannot_grow(const struct nvmi_log *log) {
  const char *path = log->pool->path;
  if (log->owner->in_heap && log->owner->busy > 1)
    nvmi_fatal(NVM_ELIMIT, path,
               "signal handlers store too much while their thread allocates or frees; store less "
               "there");
  nvmi_fatal(NVM_ENOSPACE, path,
             "the undo log cannot grow: the pool or the disk is full; free some space");
}

uint64_t nvmi_log_bound(struct nvm_pool *pool) {
  /* First the next order, then who is pending: a commit announces itself before it takes its
   * number, so one whose number lies below what is read here is seen. */
  uint64_t bound = atomic_load(&pool->order); /* loads stay in order on x86 */
  unsigned count = atomic_load_explicit(&pool->log_count, memory_order_acquire);
  for (unsigned i = 0; i < count; i++) {
    uint64_t pending =
        atomic_load(&atomic_load_explicit(&pool->logs[i], memory_order_relaxed)->pending) >> 1;
    if (pending && pending < bound)
      bound = pending;
  }
  uint64_t known = atomic_load(&pool->bound);
  return known > bound ? known : bound;
}

void nvmi_log_raise_bound(struct nvm_pool *pool, uint64_t bound) {
  uint64_t known = atomic_load(&pool->bound);
  while (known < bound && !atomic_compare_exchange_weak(&pool->bound, &known, bound))
    ;
}

void nvmi_log_await(struct nvm_pool *pool, uint64_t order) {
  unsigned count = atomic_load_explicit(&pool->log_count, memory_order_acquire);
  for (unsigned i = 0; i < count; i++) {
    const struct nvmi_log *log = atomic_load_explicit(&pool->logs[i], memory_order_relaxed);
    uint64_t pending;
    while ((pending = atomic_load(&log->pending) >> 1) && pending <= order)
      sched_yield();
  }
  nvmi_log_raise_bound(pool, order + 1);
}

/* The frames that retire checked commits come to the media, this thread's and others'. */
void nvmi_pool_stores_unnoted(struct nvm_pool *pool) {
  if (atomic_exchange(&pool->stores_unnoted, true))
    return;
  if (pool->written) { /* who gives pages of the view back has done so, or sees it (tx/dram_limit.c) */
    nvmi_lock(&pool->lock);
    nvmi_unlock(&pool->lock);
  }
  if (!pool->log_count)
    return;
  pool->persist->fence();
  nvmi_fence_all_threads(pool);
}

/* The pool gets its second log. From now on commits wait for their stores in place. After the first
 * barrier a thread either is inside a section that it entered as the only one, which shows and is
 * waited for, or will read `several_logs` as true. The second barrier interrupts every running
 * thread of the process, which drains what their sections stored past the cache without waiting (on a
 * disk a sync does it): nothing is pending any more. */
static void become_several(struct nvm_pool *pool, unsigned count) {
  if (atomic_exchange(&pool->several_logs, true))
    return;
  nvmi_barrier_in_all_threads();
  uint64_t seen[NVM_SLOTS_MAX];
  for (unsigned i = 0; i < count; i++) {
    while (atomic_load(&pool->logs[i]->solo))
      sched_yield();
    seen[i] = atomic_load(&pool->logs[i]->pending);
  }
  nvmi_fence_all_threads(pool);
  for (unsigned i = 0; i < count; i++)
    if (!(seen[i] & 1))
      atomic_compare_exchange_strong(&pool->logs[i]->pending, &seen[i], 0);
}

static void ignore_segment(void *unused, const struct nvm_segment *segment) {
  (void)unused, (void)segment;
}

/* The first transaction of a generation has number 1, which says that none came before it (log_end.c).
 * Records begin at the start of a bank, where a reader looks for the first. */
static void begin_log(struct nvmi_log *log) {
  log->bank = 1;
  log->bank_tells = false;
  log->last = 0;
  log->cursor = &log->cursors[1];
  log->cursors[0].segment = NULL;
  nvmi_log_to_bank_start(log, log->cursor, 1);
}

/* Segments of an earlier opening are looked at first: after a clean close no recovery did. */
static struct nvmi_log *make_log(struct nvm_pool *pool, unsigned slot) {
  struct nvmi_log *log =
      mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (log == MAP_FAILED) {
    nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory");
    return NULL;
  }
  log->pool = pool;
  log->slot = slot;
  for (uint32_t bank = 0; bank < 2; bank++) {
    uint64_t *link = &slot_of(log)->bank[bank];
    bool sound = *link ? nvmi_each_segment(pool, slot, bank, ignore_segment, NULL)
                       : make_segment(pool, link, SEGMENT_FIRST, slot, bank, 0) != NULL;
    if (!sound) {
      if (*link)
        nvmi_fail(NVM_ECORRUPT, pool->path,
                  "log %u, bank %u: a segment is damaged; " NVMI_REPAIR_HINT, slot, bank);
      munmap(log, sizeof *log);
      return NULL;
    }
    log->first[bank] = (struct nvm_segment *)(pool->home + *link);
  }
  /* The next slot is not used before this one has both banks: who made it may fence long after who
   * makes the next, and one half before another is damage. */
  pool->persist->fence();
  begin_log(log);
  return log;
}

static struct nvmi_log *attach_locked(struct nvm_pool *pool) {
  unsigned count = pool->log_count;
  if (pool->header.state == NVM_STATE_CLEAN) { /* exit was here */
    pool->header.clean_shutdowns--;
    nvmi_log_next_generation(pool);
  }
  for (unsigned i = 0; i < count; i++)
    if (!pool->logs[i]->owner)
      return pool->logs[i];
  if (count == NVM_SLOTS_MAX) {
    nvmi_fail(NVM_ELIMIT, pool->path, "%d threads write to the pool, which is the most; end some",
              NVM_SLOTS_MAX);
    return NULL;
  }
  if (count > 0 && !nvmi_barrier_in_all_threads()) {
    nvmi_fail(NVM_ESYSTEM, pool->path, "%s", NVMI_NO_BARRIER);
    return NULL;
  }
  struct nvmi_log *log = make_log(pool, count);
  if (!log)
    return NULL;
  if (count == 0 && !nvmi_barrier_prepare())
    pool->several_logs = true;
  if (count > 0)
    become_several(pool, count);
  pool->logs[count] = log;
  atomic_store_explicit(&pool->log_count, count + 1, memory_order_release);
  return log;
}

#ifndef NDEBUG
const char *nvmi_log_fault(const struct nvmi_log *log) {
  const struct nvmi_cursor *cursor = log->cursor;
  if (log->intents.list.count || log->operations.count || log->intents.awaited_count ||
      log->intents.locals || log->intents.has_large)
    return "a transaction that has ended intends nothing";
  for (unsigned class = 0; class < NVMI_CLASSES; class ++)
    if (log->intents.local[class])
      return "a transaction that has ended has no local blocks";
  if (log->captured.count || log->covered.count)
    return "a transaction that has ended has no captured lines";
  if (cursor->at < sizeof *cursor->segment || cursor->at > cursor->segment->size)
    return "the cursor stands in its segment";
  return log->solo ? "a section that relies on one log ends with its transaction" : NULL;
}
#endif

struct nvmi_log *nvmi_log_attach(struct nvmi_thread *thread, struct nvm_pool *pool) {
  nvmi_lock(&pool->lock);
  struct nvmi_log *log = attach_locked(pool);
  if (log) {
    log->owner = thread;
    nvmi_quick_begin(thread, pool);
    thread->logs[pool->index] = log;
  }
  nvmi_unlock(&pool->lock);
  return log;
}

/* Signals wait: a handler that stores finds the log whole, or none. */
struct nvmi_log *nvmi_log_make(struct nvmi_thread *thread, struct nvm_pool *pool) {
  sigset_t before = nvmi_signals_hold();
  struct nvmi_log *log = thread->logs[pool->index]; /* of a handler that came before */
  bool is_new = !log && (log = nvmi_log_attach(thread, pool));
  if (is_new && nvmi_root_hooks)
    nvmi_root_hooks->join(thread, pool);
  nvmi_signals_release(&before);
  return log;
}

/* An empty record, which the thread's last record precedes: others may store to the same bytes from now on,
 * for long, and damage to that last one must not look like a crash before it. Without room it is left out; so it is
 * with redo on a disk, where it would cost as much as a commit. What a record keeps free behind itself stays free.
 * Crash before the fence that follows: the last record is the newest one, whole, as before. After: it has a
 * successor that has ended. */
static void say_last(struct nvmi_log *log) {
  struct nvmi_record record;
  bool has_entries = log->pool->method->entries;
  const struct nvmi_cursor *cursor = log->cursor;
  if (cursor->transaction == 1)
    return;
  if (!has_entries && (log->pool->persist->behind ||
                       cursor->at + NVM_FRAME_ALIGN + NVMI_ROOM_FOR_VOID > cursor->segment->size))
    return;
  nvmi_record_begin(&record, log, has_entries ? nvmi_log_next(log) : log->cursor, false);
  if (nvmi_record_end(&record) && !has_entries)
    log->cursor->transaction++;
}

void nvmi_log_detach(struct nvmi_log *log) {
  if (!log->pool->forked) { /* a child has no mapping of the file */
    NVMI_HOLDS(nvmi_log_fault(log));
    say_last(log);
  }
  nvmi_fence(log); /* the next owner's fences say nothing about this processor's stores */
  log->pending = 0;
  nvmi_lock(&log->pool->lock);
  log->owner->logs[log->pool->index] = NULL;
  log->owner = NULL;
  nvmi_unlock(&log->pool->lock);
}

/* All that the generation before has logged is in place. Its numbers are no gap before those of the next one
 * (D2), and what a sync that still runs tells of them later lies below (D4). Crash between this fence and the
 * header's: the old records, of which none is replayed, and none has to be there. */
static void begin_numbers(struct nvm_pool *pool) {
  struct nvm_floor *floor = (struct nvm_floor *)(pool->home + NVM_FLOOR_OFFSET);
  nvmi_log_raise_bound(pool, pool->order);
  if (pool->header.log_format != NVM_LOG_FORMAT_DELAYED)
    return;
  __atomic_store_n(&floor->order, pool->order, __ATOMIC_RELAXED);
  __atomic_store_n(&floor->durable, pool->order, __ATOMIC_RELAXED);
  pool->persist->flush(floor, sizeof *floor);
  pool->persist->fence();
}

void nvmi_log_next_generation(struct nvm_pool *pool) {
  begin_numbers(pool);
  pool->header.generation += pool->header.generation == UINT64_MAX ? 2 : 1; /* 0 is none */
  pool->header.state = NVM_STATE_OPEN;
  nvmi_header_write(pool);
  nvmi_header_seeds(pool);
  for (unsigned i = 0; i < pool->log_count; i++)
    begin_log(pool->logs[i]);
}
