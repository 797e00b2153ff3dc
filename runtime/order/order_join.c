/* order_join.c: see order_join.h.
 *
 * What a method has of it travels as the method says: captured bytes with shadow, the log with its
 * entries with undo. Allocations and frees travel as intents, put in order for the group as a
 * whole: first all that allocate, then all that free, since a block may have been allocated by one
 * and freed by the other, but is never allocated again before its free committed.
 */
#include "order/order_join.h"

#include "base/signals.h"
#include "core/barrier.h"
#include "core/lines.h"
#include "core/map.h"
#include "heap/heap.h"
#include "judge/pointers_safe.h"
#include "log/log.h"
#include "order/order.h"

#include "core/tracing.h"
#include "order/node.h"
#include "order/undoing.h"

struct nvmi_thread nvmi_nobody;

static void capture_all(struct nvmi_thread *thread) {
  nvmi_lines_collect_all(thread);
  const struct nvmi_line *lines = thread->lines.items;
  size_t kept = 0, count = thread->lines.count;
  for (size_t i = 0; i < count; i++) {
    struct nvm_pool *pool = nvmi_pool_at((void *)(nvmi_line_first(&lines[i]) << 6));
    if (pool->method->capture)
      pool->method->capture(thread->logs[pool->index], &lines[i]);
    else
      ((struct nvmi_line *)thread->lines.items)[kept++] = lines[i];
  }
  for (uint64_t left = thread->touched; left; left &= left - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(left)];
    if (log->pool->method->capture_rest)
      log->pool->method->capture_rest(log);
  }
  thread->lines.count = kept;
  thread->fresh_count = 0; /* what was listed of new blocks is captured */
}

void nvmi_join_capture(struct nvmi_thread *thread) {
  bool captures = false;
  thread->busy++;
  nvmi_compiler_barrier();
  for (uint64_t left = thread->touched; left; left &= left - 1)
    captures = captures || thread->logs[__builtin_ctzll(left)]->pool->method->capture;
  if (captures)
    capture_all(thread);
  nvmi_compiler_barrier();
  thread->busy--;
}

uint64_t nvmi_join_uncaptured(const struct nvmi_thread *thread) {
  uint64_t pools = 0;
  for (uint64_t left = thread->touched; left; left &= left - 1) {
    const struct nvm_pool *pool = thread->logs[__builtin_ctzll(left)]->pool;
    if (pool->method->own_bytes && pool->check_pointers)
      pools |= left & -left;
  }
  return pools;
}

void nvmi_join_judge(struct nvmi_thread *thread, uint64_t pools) {
  struct nvmi_node *node = thread->node;
  thread->looks_again = true;
  if (!nvmi_pointers_released_are_safe(thread, pools, &node->judged))
    node->unsafe = true;
  thread->looks_again = false;
}

/* Who joins is told of its own pointers, not who commits them. */
bool nvmi_join_is_safe(struct nvmi_thread *thread) {
  nvmi_order_lock();
  nvmi_join_capture(thread);
  nvmi_order_unlock();
  thread->looks_again = true;
  bool safe = nvmi_pointers_are_safe(thread, thread->touched);
  thread->looks_again = false;
  if (safe && !(thread->node && thread->node->unsafe))
    return true;
  if (!thread->node)
    return nvmi_pointers_are_safe(thread, thread->touched);
  nvmi_undoing_stop(thread, thread->touched);
  safe = nvmi_pointers_are_safe(thread, thread->touched);
  nvmi_undoing_end(thread);
  return safe;
}

/* Signals wait: a handler that stores must find a log. */
void nvmi_join_pack(struct nvmi_thread *thread, struct nvmi_array *parcels) {
  sigset_t before = nvmi_signals_hold();
  nvmi_join_capture(thread);
  thread->busy++;
  nvmi_lines_collect_all(thread);
  for (uint64_t left = thread->touched; left; left &= left - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(left)];
    struct nvmi_parcel parcel = {.pool = log->pool, .intents = nvmi_heap_pack(log)};
    log->stats.joined_commits++;
    atomic_fetch_add(&log->pool->parcels, 1);
    log->pool->method->pack(log, thread->lines.items, thread->lines.count, &parcel);
    static _Atomic uint64_t joined;
    parcel.number = ++joined;
    nvmi_trace(log->pool, NVM_TRACE_JOIN, 0, parcel.number);
    nvmi_order_push(parcels, &parcel, sizeof parcel);
    nvmi_log_of(thread, parcel.pool); /* a handler that stores from here on cannot make one */
  }
  thread->touched = 0;
  thread->lines.count = 0;
  thread->fresh_count = 0;
  thread->fresh_stores = false;
  nvmi_says_it_rests(thread);
  nvmi_compiler_barrier();
  thread->busy--;
  nvmi_signals_release(&before);
}

/* Judged alone, each was safe. A member that one stored may decide about what another did: their
 * lines are judged once more, as one transaction's, in any order, and some twice. */
static void list_lines(struct nvmi_thread *thread, const struct nvmi_parcel *parcel) {
  struct nvmi_masks masks = {0};
  parcel->pool->method->parcel_lines(parcel, &masks);
  for (size_t i = 0; i < masks.lines.count; i++)
    nvmi_order_push(&thread->lines, (struct nvmi_line *)masks.lines.items + i,
                    sizeof(struct nvmi_line));
  nvmi_array_free(&masks.lines, sizeof(struct nvmi_line));
}

/* At work, behind the gate: nobody undoes meanwhile, so nobody puts a parcel here. */
void nvmi_join_unpack(struct nvmi_thread *thread) {
  struct nvmi_array *parcels = &thread->node->parcels;
  if (!parcels->count) /* others look at it: it is written only where it changes */
    return;
  for (size_t i = 0; i < parcels->count; i++) {
    struct nvmi_parcel *parcel = (struct nvmi_parcel *)parcels->items + i;
    struct nvmi_log *log = nvmi_log_of(thread, parcel->pool);
    if (!log)
      nvmi_fatal_recorded(parcel->pool->path, "no log for what joined a transaction");
    nvmi_touch(thread, UINT64_C(1) << parcel->pool->index);
    nvmi_trace(parcel->pool, NVM_TRACE_ADOPT, 0, parcel->number);
    if (parcel->pool->judges_records && parcel->pool->method->own_bytes)
      list_lines(thread, parcel); /* else what was captured has them */
    parcel->pool->method->unpack(log, parcel);
    nvmi_heap_adopt(log, parcel->intents.items, parcel->intents.count);
    nvmi_array_free(&parcel->intents, sizeof(struct nvmi_intent));
    atomic_fetch_sub(&parcel->pool->parcels, 1);
  }
  parcels->count = 0;
}
