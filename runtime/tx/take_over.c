/* take_over.c: see take_over.h.
 *
 * A thread that stored to a pool outside transactions and idles there may be busy with another pool. Its
 * stores to that one go on while this file runs: compiled code has looked into its table of lines, and
 * stores a moment later. So lines of other pools stay where they are, and noted. Lines of this pool can be
 * taken out of the table: who looks for another line in their slots finds none, before and after.
 *
 * All threads stand still meanwhile (standstill.h): the owner is in the middle of no note and no
 * commit.
 */
#include "tx/take_over.h"

#include "base/pause.h"
#include "core/barrier.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/map.h"
#include "core/standstill.h"
#include "heap/heap_ready.h"
#include "order/order.h"

/* From an owner to the state that takes over; of one pool. */
struct taking {
  struct nvmi_thread *from, *to;
  const struct nvm_pool *pool;
};

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

static void take_all(const struct taking *taking, struct nvmi_log *log) {
  struct nvmi_thread *from = taking->from, *to = taking->to;
  uint64_t bit = UINT64_C(1) << taking->pool->index;
  take_lines(taking, &from->lines); /* older than those of the table */
  take_table(taking);
  take_lines(taking, &from->nested);
  from->nested_old = from->nested.count;
  forget_ranges(taking);
  from->table->ahead &= ~bit;
  to->touched = bit;
  to->aliases = from->aliases & bit;
  from->aliases &= ~bit;
  nvmi_untouch(from, bit);
  to->fresh_stores = from->fresh_stores;
  to->handlers_store = from->handlers_store;
  to->passes_points = from->passes_points;
  to->held = from->held;
  to->id = from->id;
  to->roots = from->roots;
  to->logs[taking->pool->index] = log;
  from->logs[taking->pool->index] = NULL;
  log->owner = to;
}

enum outcome { TAKEN, LATER, NOTHING, TOGETHER, WAITS };

/* Behind the standstill, and under order's mutex. */
static enum outcome take(const struct taking *taking, struct nvmi_log *log) {
  struct nvmi_thread *from = taking->from;
  uint64_t bit = UINT64_C(1) << taking->pool->index;
  if (from->ends)
    return LATER;
  if (log->owner != from || !(from->touched & bit))
    return NOTHING;
  if (from->ticket && from->touched != bit)
    return TOGETHER;
  if (!nvmi_order_hand_over(from, taking->to))
    return WAITS;
  take_all(taking, log);
  return TAKEN;
}

static enum outcome take_when_still(const struct taking *taking, struct nvmi_log *log) {
  struct nvmi_thread *self = nvmi_thread_self();
  for (unsigned tries = 0;; tries++) {
    enum outcome outcome = LATER;
    nvmi_stop_others(self, UINT64_C(1) << taking->pool->index);
    if (nvmi_order_try_lock()) { /* as undoing.c: nobody waits for a lock in a standstill */
      if (nvmi_try_lock(&log->pool->lock)) {
        outcome = take(taking, log);
        nvmi_unlock(&log->pool->lock);
      }
      nvmi_order_unlock();
    }
    nvmi_let_others(self);
    if (outcome != LATER)
      return outcome;
    nvmi_pause(tries);
  }
}

struct nvmi_thread *nvmi_tx_take_over(struct nvmi_log *log, bool *none) {
  const char *path = log->pool->path;
  *none = false;
  if (!nvmi_barrier_in_all_threads()) {
    nvmi_fail(NVM_ESYSTEM, path, NVMI_NO_BARRIER);
    return NULL;
  }
  struct taking taking = {log->owner, nvmi_thread_state(), log->pool};
  switch (take_when_still(&taking, log)) {
  case TAKEN:
    return taking.to;
  case TOGETHER:
    nvmi_fail(NVM_EOPENTX, path,
              "thread %d has stored to this pool and to others outside transactions, and has "
              "released a lock since; let that thread commit first (nvm_tx_begin, nvm_tx_commit)",
              taking.from->id);
    break;
  case WAITS:
    nvmi_fail(NVM_EOPENTX, path,
              "what was stored outside transactions has to wait for another thread's open "
              "transaction; commit or abort that first");
    break;
  default:
    *none = true;
    break;
  }
  nvmi_thread_state_free(taking.to);
  return NULL;
}

void nvmi_tx_give_back(struct nvmi_thread *state, struct nvmi_log *log) {
  nvmi_order_leave(state);
  nvmi_ready_detach(log);
  nvmi_thread_state_free(state);
}
