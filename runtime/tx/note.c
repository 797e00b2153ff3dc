/* note.c: a store is about to happen: which bytes of it are news to the transaction?
 *
 * The per-thread table of lines (abi.h) is a cache of the answer: compiled code asks it inline,
 * this file fills it. A line pushed out of the table goes to the thread's list; noted again it is
 * merely listed twice. The table is updated after the log entry is durable, so nothing trusts an
 * entry that is not; what is noted ahead of its store waits for that in a list.
 *
 * A signal handler that interrupts this file, the heap or a commit finds `busy` set: its notes
 * go another way (note_nested.h).
 */
#include "core/map.h"

#include "core/barrier.h"
#include "core/exits.h"
#include "core/follower.h"
#include "core/fresh.h"
#include "core/gate.h"
#include "core/lines.h"
#include "core/tracing.h"
#include "core/watch.h"
#include "judge/unnoted.h"
#include "log/entry.h"
#include "log/log.h"
#include "order/order.h"
#include "tx/note_nested.h"

enum {
  LINE = NVM_LINE_SIZE,
  /* From this many whole lines on a range is listed as one, and not put into the table that it
   * would flush twice over. */
  RANGE_LINES_MIN = 2 * NVM_LINE_SLOTS,
  REMEMBERED_MIN = 1024 /* bytes of a range that is worth remembering beside the table */
};

static uint64_t not_noted(struct nvmi_thread *thread, uint64_t line, uint64_t mask) {
  const struct nvm_line *slot = nvmi_line_slot(thread, line);
  return slot->line == line ? mask & slot->missing : mask;
}

/* Tells the method the runs of new bytes, neighbouring lines together. True: to be waited for. */
static bool log_news(struct nvmi_thread *thread, struct nvmi_log *log, uintptr_t start,
                     uintptr_t end) {
  const struct nvmi_method *method = log->pool->method;
  uintptr_t run = 0, run_end = 0;
  if (!method->note)
    return false;
  for (uint64_t line = start / LINE; line <= (end - 1) / LINE; line++) {
    uint64_t mask = not_noted(thread, line, nvmi_line_mask(line, start, end));
    if (!mask)
      continue;
    uintptr_t from = line * LINE + (unsigned)__builtin_ctzll(mask);
    uintptr_t to = line * LINE + 64 - (unsigned)__builtin_clzll(mask);
    if (from != run_end) {
      if (run)
        method->note(log, (void *)run, run_end - run);
      run = from;
    }
    run_end = to;
  }
  if (run)
    method->note(log, (void *)run, run_end - run);
  return run;
}

/* One that overlaps with the last makes that longer. */
static void remember(struct nvmi_thread *thread, uintptr_t start, uintptr_t end) {
  if (end - start < REMEMBERED_MIN)
    return;
  bool overlaps = start <= thread->noted_end && end >= thread->noted_start;
  if (!overlaps || start < thread->noted_start)
    thread->noted_start = start;
  if (!overlaps || end > thread->noted_end)
    thread->noted_end = end;
}

/* What begins or ends in the remembered range is noted only where it leaves that. False: it does
 * not. The lines stay in table and list until the transaction ends or leaves the thread; then
 * nothing is remembered. */
static bool leave_out_remembered(const struct nvmi_thread *thread, uintptr_t *start,
                                 uintptr_t *end) {
  uintptr_t noted_start = thread->noted_start, noted_end = thread->noted_end;
  if (*start >= noted_start && *start < noted_end)
    *start = *end < noted_end ? *end : noted_end;
  else if (*end > noted_start && *end <= noted_end)
    *end = noted_start;
  return *start < *end;
}

static void mark_all(struct nvmi_thread *thread, uintptr_t start, uintptr_t end) {
  remember(thread, start, end);
  uint64_t first = start / LINE, last = (end - 1) / LINE;
  uint64_t whole_first = (start + LINE - 1) / LINE, whole_end = end / LINE;
  if (whole_end > whole_first && whole_end - whole_first >= RANGE_LINES_MIN) {
    nvmi_line_push(thread, whole_first | NVMI_RANGE, whole_end - whole_first);
    if (first < whole_first)
      nvmi_line_mark(thread, first, nvmi_line_mask(first, start, end));
    if (last >= whole_end)
      nvmi_line_mark(thread, last, nvmi_line_mask(last, start, end));
    return;
  }
  nvmi_lines_mark(thread, start, end);
}

/* Waits for what was noted ahead, then tells the table. A signal handler that came in between, and
 * noted ahead itself, has waited for both. */
static void drain(struct nvmi_thread *thread) {
  uint64_t waiting = thread->table->ahead;
  for (; waiting; waiting &= waiting - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(waiting)];
    log->pool->method->drain(log);
  }
  thread->table->ahead = 0;
  for (unsigned i = 0; i < thread->ahead_count; i++)
    mark_all(thread, thread->ahead[i].start, thread->ahead[i].end);
  thread->ahead_count = 0;
}

/* Says that the thread is at work, at a moment when the gate is open (gate.h). */
static void enter(struct nvmi_thread *thread, struct nvm_pool *pool) {
  thread->busy = 1;
  nvmi_compiler_barrier();
  if (pool->gate || nvmi_all_stand())
    nvmi_gate_enter(thread, UINT64_C(1) << pool->index);
}

/* What handlers posted meanwhile. */
static NVM_CALL_PRESERVE_MOST __attribute__((noinline, cold)) void post(void) {
  nvmi_order_post(nvmi_self);
}

static inline __attribute__((always_inline)) void leave_simply(struct nvmi_thread *thread) {
  nvmi_says_it_rests(thread);
  nvmi_compiler_barrier();
  thread->busy = 0;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(thread->posts_count))
    post();
}

/* `covers`: it may be of a whole record, also where little of it is left. */
static void note_at_work(struct nvmi_thread *thread, struct nvmi_log *log, uintptr_t start,
                         uintptr_t end, bool ahead, bool covers) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_fresh *fresh = nvmi_fresh_at(thread, &start, &end);
  nvmi_trace(pool, NVM_TRACE_NOTE, nvmi_offset(pool, (void *)start), end - start);
  log->stats.notes++;
  if (!fresh && covers)
    nvmi_cover(log, start, end);
  nvmi_touch(thread, UINT64_C(1) << pool->index);
  bool waits = !fresh && log_news(thread, log, start, end);
  if (fresh) {
    thread->fresh_stores = true;
    nvmi_fresh_mark(thread, fresh, start, end);
  } else if (waits) {
    thread->ahead[thread->ahead_count].start = start;
    thread->ahead[thread->ahead_count++].end = end;
    nvmi_compiler_barrier(); /* a jump out of a handler leaves what finish() takes back */
    thread->table->ahead |= UINT64_C(1) << pool->index;
    if (!ahead || thread->ahead_count == NVMI_AHEAD_MAX)
      drain(thread);
  } else {
    mark_all(thread, start, end);
  }
}

/* Signal handlers note, too: so what the thread knows of its notes is read at work only. */
static void note(struct nvm_pool *pool, uintptr_t start, size_t size, bool ahead) {
  if (NVMI_UNLIKELY(pool->forked)) {
    pool->child_stores = true;
    return;
  }
  struct nvmi_thread *thread = nvmi_thread_self();
  uintptr_t end = start + size;
  if (NVMI_UNLIKELY(thread->busy)) {
    nvmi_note_nested(thread, pool, start, end);
    return;
  }
  if (NVMI_UNLIKELY(nvmi_exit_was_here()))
    nvmi_exit_again();
  struct nvmi_log *log = nvmi_log_of(thread, pool);
  if (!log)
    nvmi_fatal_recorded(pool->path, "no log for this thread");
  enter(thread, pool);
  /* Also of what is remembered as noted: it may have an alias. */
  if (NVMI_UNLIKELY(pool->method->settle != NULL))
    pool->method->settle(log, start, end);
  if (leave_out_remembered(thread, &start, &end))
    note_at_work(thread, log, start, end, ahead, nvmi_may_cover(pool, size));
  leave_simply(thread);
}

/* Kept apart so that the usual way of __nvm_note calls nothing and saves few registers: every store
 * of its own takes a place in the processor's store buffer from the program's stores that miss the
 * cache. */
static NVM_CALL_PRESERVE_MOST __attribute__((noinline)) void note_slowly(void *address,
                                                                         size_t size) {
  struct nvm_pool *pool = nvmi_pool_at(address);
  if (NVMI_UNLIKELY(nvmi_watched && pool))
    nvmi_watch_store(nvmi_watch_code(__builtin_return_address(0), __builtin_frame_address(0)),
                     size);
  if (pool && size)
    note(pool, (uintptr_t)address, size, false);
}

static NVM_CALL_PRESERVE_MOST __attribute__((noinline)) void note_slowly_ahead(void *address,
                                                                               size_t size) {
  struct nvm_pool *pool = nvmi_pool_at(address);
  if (NVMI_UNLIKELY(nvmi_watched && pool))
    nvmi_watch_store(nvmi_watch_code(__builtin_return_address(0), __builtin_frame_address(0)),
                     size);
  if (pool && size)
    note(pool, (uintptr_t)address, size, true);
}

/* A jump: the usual way then has no call in it, and keeps only what it uses. */
#define INSTEAD(function, address, size) __attribute__((musttail)) return function(address, size)

/* As nvmi_line_mark(), where the list has room. An empty slot answers no test until its line is
 * there. */
static inline __attribute__((always_inline)) void
mark_simple(struct nvmi_thread *thread, struct nvm_line *slot, uint64_t line, uint64_t mask) {
  uint64_t before = slot->line;
  if (before == line) {
    slot->missing &= ~mask;
    return;
  }
  if (NVMI_UNLIKELY(before != 0)) {
    ((struct nvmi_line *)thread->lines.items)[thread->lines.count] =
        (struct nvmi_line){before, ~slot->missing};
    nvmi_compiler_barrier(); /* it counts when it is there: a handler may jump out of here */
    thread->lines.count += slot->missing != UINT64_MAX;
    *(volatile uint64_t *)&slot->missing = UINT64_MAX;
    *(volatile uint64_t *)&slot->line = line;
    *(volatile uint64_t *)&slot->missing = ~mask;
    return;
  }
  thread->used[thread->used_count++] = (uint16_t)(line & (NVM_LINE_SLOTS - 1));
  *(volatile uint64_t *)&slot->missing = ~mask;
  *(volatile uint64_t *)&slot->line = line;
}

/* One line, a thread and a log that are there, nobody interrupted; the gate is open, nobody watches. Says
 * that the thread is at work, and gives the line's slot, which may be in use by another line while the
 * list has room for that. Null: not that simple, and the thread is not at work. */
static inline __attribute__((always_inline)) struct nvm_line *
enter_simply(struct nvmi_thread *thread, const struct nvm_pool *pool, uintptr_t start,
             size_t size) {
  if (!thread || !pool || thread->busy || (start & (LINE - 1)) + size > LINE || !size ||
      !thread->logs[pool->index])
    return NULL;
  thread->busy = 1;
  nvmi_compiler_barrier();
  struct nvm_line *slot = nvmi_line_slot(thread, start / LINE);
  bool has_room = thread->lines.count != thread->lines.room;
  if (NVMI_LIKELY(!pool->gate && !nvmi_goes_slowly() &&
                  (has_room || !slot->line || slot->line == start / LINE)))
    return slot;
  thread->busy = 0;
  return NULL;
}

static inline uint64_t mask_in_line(uintptr_t start, size_t size) {
  return UINT64_MAX >> (LINE - size) << (start & (LINE - 1));
}

/* The method's entry for those bytes of the line that are news to the transaction. */
static inline __attribute__((always_inline)) void log_simple(struct nvmi_log *log, uint64_t line,
                                                             uint64_t news) {
  const struct nvmi_method *method = log->pool->method;
  unsigned first = (unsigned)__builtin_ctzll(news);
  const void *start = (void *)(line * LINE + first);
  uint32_t size = 64 - (uint32_t)__builtin_clzll(news) - first;
  if (NVMI_LIKELY(method->entries && size <= NVM_FRAME_ROOM)) {
    nvmi_entry_put_short(log, start, size);
    nvmi_fence_entries(log);
  } else {
    method->note(log, start, size);
    method->drain(log);
  }
}

/* An entry of one line that the next drain waits for. */
static inline bool may_be_ahead(const struct nvmi_thread *thread, const struct nvm_pool *pool,
                                size_t size) {
  return pool->method->entries && !pool->method->store && size <= NVM_FRAME_ROOM &&
         !thread->fresh_count && thread->ahead_count < NVMI_AHEAD_MAX - 1;
}

/* With entries of old bytes: kept apart, as it needs room on the stack. */
static NVM_CALL_PRESERVE_MOST __attribute__((noinline)) void note_logged(void *address,
                                                                         size_t size) {
  struct nvmi_thread *thread = nvmi_self;
  uintptr_t start = (uintptr_t)address;
  struct nvm_pool *pool = nvmi_pool_at(address);
  struct nvm_line *slot = NULL;
  if (NVMI_UNLIKELY(!thread || !pool || thread->fresh_count || thread->ahead_count ||
                    pool->method->store || !(slot = enter_simply(thread, pool, start, size))))
    INSTEAD(note_slowly, address, size);
  uint64_t line = start / LINE, mask = mask_in_line(start, size);
  nvmi_touch(thread, UINT64_C(1) << pool->index);
  uint64_t news = slot->line == line ? mask & slot->missing : mask;
  if (news)
    log_simple(thread->logs[pool->index], line, news);
  mark_simple(thread, slot, line, mask);
  leave_simply(thread);
}

static NVM_CALL_PRESERVE_MOST __attribute__((noinline)) void note_logged_ahead(void *address,
                                                                               size_t size) {
  struct nvmi_thread *thread = nvmi_self;
  uintptr_t start = (uintptr_t)address;
  struct nvm_pool *pool = nvmi_pool_at(address);
  struct nvm_line *slot = NULL;
  if (NVMI_UNLIKELY(!thread || !pool || !may_be_ahead(thread, pool, size) ||
                    !(slot = enter_simply(thread, pool, start, size))))
    INSTEAD(note_slowly_ahead, address, size);
  uint64_t line = start / LINE, mask = mask_in_line(start, size);
  nvmi_touch(thread, UINT64_C(1) << pool->index);
  uint64_t news = slot->line == line ? mask & slot->missing : mask;
  if (news) {
    unsigned first = (unsigned)__builtin_ctzll(news);
    nvmi_entry_put_short(thread->logs[pool->index], (void *)(line * LINE + first),
                         64 - (uint32_t)__builtin_clzll(news) - first);
    thread->ahead[thread->ahead_count].start = start;
    thread->ahead[thread->ahead_count++].end = start + size;
    nvmi_compiler_barrier(); /* as in note() */
    thread->table->ahead |= UINT64_C(1) << pool->index;
  } else {
    mark_simple(thread, slot, line, mask);
  }
  leave_simply(thread);
}

/* Where lines are all that commit needs. It stores to the file's lines and asks for them all at
 * once (lines.h); a short one too late for its fence, so the first is asked for here. False: not
 * that simple. */
static inline __attribute__((always_inline)) bool note_simply(struct nvm_pool *pool, void *address,
                                                              size_t size) {
  struct nvmi_thread *thread = nvmi_self;
  uintptr_t start = (uintptr_t)address;
  if (pool && nvmi_may_cover(pool, size))
    return false;
  struct nvm_line *slot = enter_simply(thread, pool, start, size);
  if (NVMI_UNLIKELY(!slot))
    return false;
  nvmi_touch(thread, UINT64_C(1) << pool->index);
  if (!thread->used_count)
    __builtin_prefetch(pool->home + nvmi_offset(pool, address), 1);
  mark_simple(thread, slot, start / LINE, mask_in_line(start, size));
  leave_simply(thread);
  return true;
}

NVM_CALL_PRESERVE_MOST void __nvm_note(void *Address, size_t Size) {
  struct nvm_pool *pool = nvmi_pool_at(Address);
  __builtin_prefetch(Address, 1);
  if (NVMI_UNLIKELY(pool && pool->method->note))
    INSTEAD(note_logged, Address, Size);
  if (NVMI_UNLIKELY(!note_simply(pool, Address, Size)))
    INSTEAD(note_slowly, Address, Size);
}

NVM_CALL_PRESERVE_MOST void __nvm_note_ahead(void *Address, size_t Size) {
  struct nvm_pool *pool = nvmi_pool_at(Address);
  if (NVMI_UNLIKELY(pool && pool->method->note))
    INSTEAD(note_logged_ahead, Address, Size);
  if (NVMI_UNLIKELY(!note_simply(pool, Address, Size)))
    INSTEAD(note_slowly_ahead, Address, Size);
}

/* A signal handler that interrupts the runtime has waited for its own notes (note_nested.h); those of
 * the interrupted code are not all there. */
NVM_CALL_PRESERVE_MOST void __nvm_drain(void) {
  struct nvmi_thread *thread = nvmi_self;
  if (NVMI_UNLIKELY(thread->busy))
    return;
  thread->busy = 1;
  nvmi_compiler_barrier();
  nvmi_gate_enter(thread, thread->table->ahead);
  drain(thread);
  leave_simply(thread);
}
