/* undoing.c: see undoing.h.
 *
 * All others stand still meanwhile (standstill.h), so what they have noted can be read. A dependent is
 * doomed: its node leads to one that is ABORTING, and it reads its parcels behind the gate, so
 * what is put there now it finds.
 *
 * With undo, the dependent's entry of a kept byte has what this transaction wrote. So the first
 * that noted it is handed copies of this one's entries, with their order, as if it had written
 * both: it undoes them newest first, or hands all of them on in its turn, and so does recovery.
 * Crash before the copies are durable: this one's own entries are still there. After: both are, and
 * undo the same twice. With shadow there is nothing to hand: what a byte was is read from the
 * others' captured lines and the file.
 */
#include "order/undoing.h"

#include "base/pause.h"
#include "base/sort.h"
#include "core/barrier.h"
#include "core/captured.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/standstill.h"
#include "order/kept_blocks.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"
#include "order/waits.h"

#include <assert.h>
#include <stdlib.h>

struct nvmi_masks nvmi_kept;

void nvmi_masks_add(struct nvmi_masks *masks, uint64_t line, uint64_t mask) {
  struct nvmi_line item = {line, mask};
  if (mask)
    nvmi_order_push(&masks->lines, &item, sizeof item);
}

void nvmi_masks_add_bytes(struct nvmi_masks *masks, uintptr_t start, uintptr_t end) {
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++)
    nvmi_masks_add(masks, line, nvmi_line_mask(line, start, end));
}

static int by_line(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_line *)a)->line, y = ((const struct nvmi_line *)b)->line;
  return x < y ? -1 : x > y;
}

void nvmi_masks_sort(struct nvmi_masks *masks) {
  struct nvmi_line *lines = masks->lines.items;
  size_t kept = 0;
  if (!masks->lines.count)
    return;
  nvmi_sort(lines, masks->lines.count, sizeof *lines, by_line);
  for (size_t i = 1; i < masks->lines.count; i++)
    if (lines[i].line == lines[kept].line)
      lines[kept].mask |= lines[i].mask;
    else
      lines[++kept] = lines[i];
  masks->lines.count = kept + 1;
}

uint64_t nvmi_masks_at(const struct nvmi_masks *masks, uint64_t line) {
  const struct nvmi_line *found = NULL;
  if (masks->lines.count)
    found = bsearch(&(struct nvmi_line){.line = line}, masks->lines.items, masks->lines.count,
                    sizeof *found, by_line);
  return found ? found->mask : 0;
}

static void add_items(struct nvmi_masks *masks, const struct nvmi_array *list) {
  const struct nvmi_line *items = list->items;
  for (size_t i = 0; i < list->count; i++)
    for (uint64_t n = 0; n < nvmi_line_count(&items[i]); n++)
      nvmi_masks_add(masks, nvmi_line_first(&items[i]) + n,
                     items[i].line & NVMI_RANGE ? UINT64_MAX : items[i].mask);
}

/* An alias (core/alias.h) is not in place, and counts only where it has an entry of what is. */
static void add_captured(struct nvmi_masks *masks, const struct nvmi_log *log) {
  const struct nvmi_captured *items = log->captured.items;
  for (size_t i = 0; i < log->captured.count; i++)
    if (items[i].sequence != NVMI_ALIASED || log->pool->method->entries)
      nvmi_masks_add(masks, items[i].line, items[i].mask);
}

/* All that the transaction of a node has noted, in whatever state it is. */
static void add_noted(struct nvmi_masks *masks, const struct nvmi_node *node) {
  const struct nvmi_thread *thread = node->thread;
  for (unsigned i = 0; i < thread->used_count; i++) {
    const struct nvm_line *slot = &thread->table->slot[thread->used[i]];
    nvmi_masks_add(masks, slot->line, ~slot->missing);
  }
  for (unsigned i = 0; i < thread->ahead_count; i++)
    nvmi_masks_add_bytes(masks, thread->ahead[i].start, thread->ahead[i].end);
  add_items(masks, &thread->lines);
  add_items(masks, &thread->nested);
  for (uint64_t left = thread->touched; left; left &= left - 1)
    add_captured(masks, thread->logs[__builtin_ctzll(left)]);
  for (size_t i = 0; i < node->parcels.count; i++) {
    const struct nvmi_parcel *parcel = (struct nvmi_parcel *)node->parcels.items + i;
    parcel->pool->method->parcel_lines(parcel, masks);
  }
}

/* Whose undoing waits for that of the transaction, and what it has noted. */
struct dependent {
  struct nvmi_node *node;
  struct nvmi_masks noted;
};
static struct nvmi_array dependents; /* struct dependent; under order.c's mutex */

static struct dependent *dependent_at(size_t i) { return (struct dependent *)dependents.items + i; }

static bool find_dependent(struct nvmi_node *node, void *own) {
  if (node == own || node->state >= COMMITTED || node->into || !node->thread ||
      !nvmi_node_follows(node, own))
    return false;
  struct dependent found = {.node = node};
  add_noted(&found.noted, node);
  nvmi_masks_sort(&found.noted);
  nvmi_order_push(&dependents, &found, sizeof found);
  return false;
}

/* Bytes of which this one's entries are the first behind the transaction's: those that another
 * dependent noted before have that one's. */
static void noted_first(const struct dependent *of, struct nvmi_masks *first) {
  const struct nvmi_line *lines = of->noted.lines.items;
  for (size_t i = 0; i < of->noted.lines.count; i++) {
    uint64_t mask = lines[i].mask;
    for (size_t n = 0; n < dependents.count; n++) {
      const struct dependent *other = dependent_at(n);
      uint64_t both = mask & nvmi_masks_at(&other->noted, lines[i].line);
      if (both && other != of && nvmi_node_follows(of->node, other->node) &&
          !nvmi_node_follows(other->node, of->node))
        mask &= ~both;
    }
    nvmi_masks_add(first, lines[i].line, mask);
  }
}

static void hand_on(const struct nvmi_thread *thread, const struct dependent *to, uint64_t pools) {
  struct nvmi_masks first = {0};
  noted_first(to, &first);
  for (; pools; pools &= pools - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(pools)];
    struct nvmi_parcel parcel = {.pool = log->pool};
    if (!log->pool->method->hand_on || !first.lines.count)
      continue;
    log->pool->method->hand_on(log, &first, &parcel);
    if (!parcel.log)
      continue;
    atomic_fetch_add(&log->pool->parcels, 1);
    nvmi_order_push(&to->node->parcels, &parcel, sizeof parcel);
  }
  nvmi_array_free(&first.lines, sizeof(struct nvmi_line));
}

static void keep_blocks(const struct nvmi_thread *thread, uint64_t pools) {
  struct nvmi_array nodes = {0};
  for (size_t i = 0; i < dependents.count; i++)
    nvmi_order_push(&nodes, &dependent_at(i)->node, sizeof(struct nvmi_node *));
  for (; pools && nodes.count; pools &= pools - 1)
    nvmi_blocks_keep(thread->logs[__builtin_ctzll(pools)], &nodes);
  nvmi_array_free(&nodes, sizeof(struct nvmi_node *));
}

static void keep(struct nvmi_masks *noted) {
  const struct nvmi_line *lines = noted->lines.items;
  for (size_t i = 0; i < noted->lines.count; i++)
    nvmi_masks_add(&nvmi_kept, lines[i].line, lines[i].mask);
  nvmi_array_free(&noted->lines, sizeof(struct nvmi_line));
}

/* A dependent is, in whatever pool. As nvmi_others_work(). */
__attribute__((no_sanitize("thread"))) static bool is_at_work(struct nvmi_node *node, void *own) {
  if (node == own || node->state >= COMMITTED || !node->thread || !nvmi_node_follows(node, own))
    return false;
  if (node->thread->busy)
    return true;
  nvmi_sees_at_rest(node->thread);
  return false;
}

/* Dependents stand still in other pools, too: their lists are of all of these. Nobody waits for
 * order.c's mutex with a gate shut: who holds it may be interrupted by a signal handler that waits
 * at the gate. From here on the thread has the mutex, until it lets the others go. */
static void stop_all(struct nvmi_thread *thread, uint64_t pools) {
  for (unsigned tries = 0;; tries++) {
    nvmi_stop_others(thread, pools);
    if (nvmi_order_try_lock()) {
      if (!nvmi_node_find(is_at_work, thread->node))
        return;
      nvmi_order_unlock();
    }
    nvmi_let_others(thread);
    nvmi_pause(tries);
  }
}

static void keep_noted(void) {
  for (size_t i = 0; i < dependents.count; i++)
    keep(&dependent_at(i)->noted);
  dependents.count = 0;
  nvmi_masks_sort(&nvmi_kept);
}

void nvmi_undoing_stop(struct nvmi_thread *thread, uint64_t pools) {
  stop_all(thread, pools);
  assert(!thread->others_stand && !nvmi_kept.lines.count && !dependents.count);
  thread->others_stand = true;
}

void nvmi_undoing_begin(struct nvmi_thread *thread, uint64_t pools) {
  nvmi_undoing_stop(thread, pools);
  nvmi_join_unpack(thread);
  nvmi_node_find(find_dependent, thread->node);
  for (size_t i = 0; i < dependents.count; i++)
    hand_on(thread, dependent_at(i), pools);
  keep_blocks(thread, pools);
  keep_noted();
}

void nvmi_undoing_end(struct nvmi_thread *thread) {
  assert(thread->others_stand && !dependents.count);
  nvmi_kept.lines.count = 0;
  thread->others_stand = false;
  nvmi_order_unlock();
  nvmi_let_others(thread);
}
