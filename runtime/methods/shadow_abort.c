/* shadow_abort.c: what a byte was before a transaction, while others are open that wrote it, too.
 *
 * The file has what committed. What another open transaction released, or had joined to it, is
 * newer and not there yet: it has been captured (order.h). So a byte comes back from the newest
 * captured line of another transaction that has it, else from the file.
 */
#include "methods/shadow_abort.h"

#include "base/sort.h"
#include "core/captured.h"
#include "methods/shadow_lines.h"
#include "order/node.h"
#include "order/order_join.h"
#include "order/undoing.h"

#include <stdlib.h>

/* What other open transactions have captured in the pool, by line and then by sequence; under
 * order.c's mutex. Lines are of memory addresses. */
static struct nvmi_array others; /* const struct nvmi_captured * */

static void add_others(const struct nvmi_array *captured) {
  for (size_t i = 0; i < captured->count; i++) {
    const struct nvmi_captured *one = (const struct nvmi_captured *)captured->items + i;
    nvmi_order_push(&others, &one, sizeof(struct nvmi_captured *));
  }
}

/* A node of other pools does not stand still: its thread may take its parcels in, and set their
 * number to zero. None of them is of this pool, so what is read of the number does not matter. */
__attribute__((no_sanitize("thread"))) static bool add_parcels(struct nvmi_node *node, void *pool) {
  const struct nvmi_parcel *parcels = node->parcels.items;
  for (size_t i = 0; i < node->parcels.count; i++)
    if (parcels[i].pool == pool)
      add_others(&parcels[i].captured);
  return false;
}

static int by_line_and_sequence(const void *a, const void *b) {
  const struct nvmi_captured *x = *(const struct nvmi_captured *const *)a,
                             *y = *(const struct nvmi_captured *const *)b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void find_others(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  others.count = 0;
  for (unsigned i = 0; i < atomic_load(&pool->log_count); i++)
    if (pool->logs[i] != log)
      add_others(&pool->logs[i]->captured);
  nvmi_node_find(add_parcels, pool);
  if (others.count)
    nvmi_sort(others.items, others.count, sizeof(struct nvmi_captured *), by_line_and_sequence);
}

/* The bytes as they were before this transaction: as another open one has released them last, else
 * as in the file; those that a dependent has noted since stay. */
static void restore(void *unused, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  const struct nvmi_captured *const *all = others.items;
  uint64_t line = (pool->header.base + offset) >> 6;
  size_t low = 0, high = others.count;
  (void)unused;
  mask &= ~nvmi_masks_at(&nvmi_kept, line);
  if (nvmi_has_unnoted(pool))
    mask &= ~nvmi_unnoted_in_line(pool, offset);
  nvmi_shadow_fetch_home(NULL, pool, offset, mask);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all[middle]->line < line)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < others.count && all[low]->line == line; low++)
    for (uint64_t left = mask & all[low]->mask; left; left &= left - 1) {
      unsigned i = (unsigned)__builtin_ctzll(left);
      pool->work[offset + i] = all[low]->bytes[i];
    }
}

/* What others have covered since is what this transaction has made of it: when they are undone, they give
 * back what was there before. */
static void hand_on(const struct nvmi_array *covered, struct nvmi_array *to) {
  const struct nvmi_captured *from = covered->items;
  struct nvmi_captured *later = to->items;
  for (size_t i = covered->count; i-- > 0;)
    for (size_t j = 0; j < to->count; j++) {
      uint64_t both = later[j].line == from[i].line && later[j].sequence > from[i].sequence
                          ? from[i].mask & later[j].mask
                          : 0;
      for (; both; both &= both - 1) {
        unsigned byte = (unsigned)__builtin_ctzll(both);
        later[j].bytes[byte] = from[i].bytes[byte];
      }
    }
}

__attribute__((no_sanitize("thread"))) static bool hand_to_parcels(struct nvmi_node *node,
                                                                   void *context) {
  const struct nvmi_log *log = context;
  struct nvmi_parcel *parcels = node->parcels.items;
  for (size_t i = 0; i < node->parcels.count; i++)
    if (parcels[i].pool == log->pool)
      hand_on(&log->covered, &parcels[i].covered);
  return false;
}

static void hand_on_covered(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  for (unsigned i = 0; i < atomic_load(&pool->log_count); i++)
    if (pool->logs[i] != log)
      hand_on(&log->covered, &pool->logs[i]->covered);
  nvmi_node_find(hand_to_parcels, log);
}

/* Of a transaction that has to do with others, which stand still (undoing.h). */
void nvmi_shadow_abort_among_others(struct nvmi_log *log, const struct nvmi_line *lines,
                                    size_t count) {
  struct nvm_pool *pool = log->pool;
  find_others(log);
  const struct nvmi_captured *captured = log->captured.items;
  for (size_t i = 0; i < log->captured.count; i++)
    restore(NULL, pool, nvmi_captured_offset(log, &captured[i]), captured[i].mask);
  log->captured.count = 0;
  nvmi_shadow_each_line(pool, lines, count, restore, NULL);
  if (log->covered.count)
    hand_on_covered(log);
  nvmi_shadow_uncover(log);
}
