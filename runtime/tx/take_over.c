/* take_over.c: see take_over.h.
 *
 * A thread that has a log in a pool, and may have stored there outside transactions, can be at work in
 * another pool. What it stores there goes on while this file runs: compiled code has looked into its table
 * of lines, and stores a moment later. So lines of other pools stay where they are, and noted. Lines of
 * this pool can be taken out of the table: who looks for another line in their slots finds none,
 * before and after.
 *
 * All threads stand still meanwhile (standstill.h): the owner is in the middle of no note, no end of a
 * transaction and no release of a lock (nvmi_uses_open), each of which finds afterwards that it has
 * nothing in this pool.
 */
#include "tx/take_over.h"

#include "core/barrier.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/map.h"
#include "core/root_hooks.h"
#include "core/standstill.h"
#include "heap/heap_ready.h"
#include "order/order.h"
#include "order/ticket.h"

#include <signal.h>

/* From an owner to the state that takes over; of one pool. */
struct taking {
  struct nvmi_thread *from, *to;
  const struct nvm_pool *pool;
};

static uint64_t bit_of(const struct taking *taking) { return UINT64_C(1) << taking->pool->index; }

static bool is_of(const struct taking *taking, uintptr_t address) {
  return nvmi_pool_at((void *)address) == taking->pool;
}

static void take_table(const struct taking *taking) {
  struct nvmi_thread *from = taking->from;
  struct nvm_line_table *table = from->table;
  unsigned kept = 0;
  for (unsigned i = 0; i < from->used_count; i++) {
    struct nvm_line *slot = &table->slot[from->used[i]];
    uint64_t line = slot->line, missing = slot->missing;
    if (line && !is_of(taking, line * NVM_LINE_SIZE)) {
      from->used[kept++] = from->used[i];
      continue;
    }
    if (line && missing != UINT64_MAX)
      nvmi_line_push(taking->to, line, ~missing);
    slot->line = 0;
  }
  from->used_count = kept;
  if (table->fresh_end && is_of(taking, table->fresh_start))
    table->fresh_start = table->fresh_end = 0;
}

static void take_lines(const struct taking *taking, struct nvmi_array *list) {
  struct nvmi_line *lines = list->items;
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if (is_of(taking, nvmi_line_first(&lines[i]) * NVM_LINE_SIZE))
      nvmi_line_push(taking->to, lines[i].line, lines[i].mask);
    else
      lines[kept++] = lines[i];
  list->count = kept;
}

static void forget_ranges(const struct taking *taking) {
  struct nvmi_thread *from = taking->from;
  for (unsigned i = 0; i < from->fresh_count && i < NVMI_FRESH_MAX; i++)
    if (is_of(taking, from->fresh[i].start))
      from->fresh[i] = (struct nvmi_fresh){0};
  unsigned kept = 0;
  for (unsigned i = 0; i < from->ahead_count; i++)
    if (!is_of(taking, from->ahead[i].start)) /* else of a store that a handler jumped away from */
      from->ahead[kept++] = from->ahead[i];
  from->ahead_count = kept;
  if (from->noted_end && is_of(taking, from->noted_start))
    from->noted_end = 0;
}

static void take_open(const struct taking *taking) {
  struct nvmi_thread *from = taking->from, *to = taking->to;
  uint64_t bit = bit_of(taking);
  atomic_fetch_or(&from->taken,
                  NVMI_TAKEN);      /* before it finds that it has nothing open (thread.h) */
  take_lines(taking, &from->lines); /* older than those of the table */
  take_table(taking);
  take_lines(taking, &from->nested);
  from->nested_old = from->nested.count;
  forget_ranges(taking);
  from->table->ahead &= ~bit;
  nvmi_untouch(from, bit);
  to->touched = bit;
  to->aliases = from->aliases & bit;
  to->fresh_stores = from->fresh_stores;
  to->handlers_store = from->handlers_store;
  to->passes_points = from->passes_points;
  to->held = from->held;
  to->id = from->id;
  to->ticket = from->ticket;
  from->ticket = NULL;
  from->stays_open = false;
  if (to->ticket)
    to->ticket->thread = to;
}

/* In the standstill, and under order's mutex and the pool's. The standstill's barrier orders what is read here. */
__attribute__((no_sanitize("thread"))) static enum nvmi_taking take(const struct taking *taking,
                                                                    struct nvmi_log *log) {
  struct nvmi_thread *from = taking->from;
  unsigned index = taking->pool->index;
  bool open = from->touched & bit_of(taking);
  if (from->uses_open)
    return nvmi_ticket_waits(from->ticket) ? NVMI_WAITS : NVMI_TAKES_LATER;
  if (open && (from->begun || from->frames.count))
    return NVMI_OPEN_THERE;
  if (open && from->ticket && from->touched != bit_of(taking))
    return NVMI_TOGETHER;
  if (open && nvmi_ticket_waits(from->ticket))
    return NVMI_WAITS;
  if (open && nvmi_root_hooks && nvmi_root_hooks->saves(from, taking->pool))
    return NVMI_WITH_ROOTS;
  nvmi_sees_at_rest(from);
  if (open)
    take_open(taking);
  taking->to->logs[index] = log;
  from->logs[index] = NULL;
  log->owner = taking->to;
  return NVMI_TAKES;
}

/* As undoing.c: nobody waits for a lock in a standstill. */
static enum nvmi_taking try_to_take(const struct taking *taking, struct nvmi_log *log) {
  enum nvmi_taking outcome = NVMI_TAKES_LATER;
  if (!nvmi_order_try_lock())
    return outcome;
  if (nvmi_try_lock(&log->pool->lock)) {
    outcome = take(taking, log);
    nvmi_unlock(&log->pool->lock);
  }
  nvmi_order_unlock();
  return outcome;
}

struct nvmi_thread *nvmi_tx_take_over(struct nvmi_log *log, enum nvmi_taking *outcome) {
  struct nvmi_thread *self = nvmi_thread_self();
  struct taking taking = {log->owner, nvmi_thread_state(), log->pool};
  nvmi_stop_others(self, bit_of(&taking));
  *outcome = try_to_take(&taking, log);
  nvmi_let_others(self);
  if (*outcome == NVMI_TAKES)
    return taking.to;
  nvmi_thread_state_free(taking.to);
  return NULL;
}

void nvmi_tx_give_back(struct nvmi_thread *state) {
  nvmi_order_leave(state); /* may give blocks back in any pool (order/kept_blocks.h) */
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++)
    if (state->logs[i])
      nvmi_ready_detach(state->logs[i]);
  nvmi_thread_state_free(state);
}

/* Whoever has the lock closes, or ends: then no other close has anything. Signals wait: a handler may jump out of
 * what called this, a release of a lock say. */
bool nvmi_tx_await_takers(struct nvmi_thread *thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool locked = nvmi_threads_are_locked();
  if (!locked)
    nvmi_threads_lock();
  bool lost = atomic_fetch_and(&thread->taken, NVMI_TAKEN_LOST) & NVMI_TAKEN_LOST;
  if (!locked)
    nvmi_threads_unlock();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return lost;
}
