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

/* But aliases (core/alias.h), which nobody else has seen. */
static void add_each(struct nvmi_array *to, const struct nvmi_array *captured) {
  for (size_t i = 0; i < captured->count; i++) {
    const struct nvmi_captured *one = (const struct nvmi_captured *)captured->items + i;
    if (one->sequence != NVMI_ALIASED)
      nvmi_order_push(to, &one, sizeof(struct nvmi_captured *));
  }
}

/* A node of other pools does not stand still: its thread may take its parcels in, and set their
 * number to zero. None of them is of this pool, so what is read of the number does not matter. */
__attribute__((no_sanitize("thread"))) static bool add_parcels(struct nvmi_node *node, void *pool) {
  const struct nvmi_parcel *parcels = node->parcels.items;
  for (size_t i = 0; i < node->parcels.count; i++)
    if (parcels[i].pool == pool)
      add_each(&others, &parcels[i].captured);
  return false;
}

static int by_line_and_sequence(const void *a, const void *b) {
  const struct nvmi_captured *x = *(const struct nvmi_captured *const *)a,
                             *y = *(const struct nvmi_captured *const *)b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void sort(struct nvmi_array *all) {
  if (all->count)
    nvmi_sort(all->items, all->count, sizeof(struct nvmi_captured *), by_line_and_sequence);
}

static void find_others(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  others.count = 0;
  for (unsigned i = 0; i < atomic_load(&pool->log_count); i++)
    if (pool->logs[i] != log)
      add_each(&others, &pool->logs[i]->captured);
  nvmi_node_find(add_parcels, pool);
  sort(&others);
}

/* Where captured lines of the sorted `all` begin that are at this line or after it. */
static size_t first_at(const struct nvmi_array *all, uint64_t line) {
  const struct nvmi_captured *const *items = all->items;
  size_t low = 0, high = all->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (items[middle]->line < line)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The bytes as they were before this transaction: as another open one has released them last, else
 * as in the file; those that a dependent has noted since stay. */
static void restore(void *unused, struct nvm_pool *pool, uint64_t offset, uint64_t mask) {
  const struct nvmi_captured *const *all = others.items;
  uint64_t line = (pool->header.base + offset) >> 6;
  (void)unused;
  if (NVMI_UNLIKELY(!nvmi_view_is_private(pool, offset)))
    return;
  mask &= ~nvmi_masks_at(&nvmi_kept, line);
  if (nvmi_has_unnoted(pool))
    mask &= ~nvmi_unnoted_in_line(pool, offset);
  nvmi_shadow_fetch_home(NULL, pool, offset, mask);
  for (size_t i = first_at(&others, line); i < others.count && all[i]->line == line; i++)
    for (uint64_t left = mask & all[i]->mask; left; left &= left - 1) {
      unsigned byte = (unsigned)__builtin_ctzll(left);
      pool->work[offset + byte] = all[i]->bytes[byte];
    }
}

/* What this transaction has covered, by line and then by sequence; under order.c's mutex. */
static struct nvmi_array given_back; /* const struct nvmi_captured * */

/* What others have covered since is what this transaction has made of it: when they are undone, they give
 * back what was there before. Of several times that this transaction has covered a byte, the first counts. */
static void hand_on(struct nvmi_array *to) {
  const struct nvmi_captured *const *all = given_back.items;
  struct nvmi_captured *later = to->items;
  for (size_t i = 0; i < to->count; i++) {
    uint64_t left = later[i].mask;
    for (size_t j = first_at(&given_back, later[i].line);
         left && j < given_back.count && all[j]->line == later[i].line &&
         all[j]->sequence < later[i].sequence;
         j++) {
      uint64_t both = left & all[j]->mask;
      left &= ~both;
      for (; both; both &= both - 1) {
        unsigned byte = (unsigned)__builtin_ctzll(both);
        later[i].bytes[byte] = all[j]->bytes[byte];
      }
    }
  }
}

__attribute__((no_sanitize("thread"))) static bool hand_to_parcels(struct nvmi_node *node,
                                                                   void *pool) {
  struct nvmi_parcel *parcels = node->parcels.items;
  for (size_t i = 0; i < node->parcels.count; i++)
    if (parcels[i].pool == pool)
      hand_on(&parcels[i].covered);
  return false;
}

static void hand_on_covered(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  given_back.count = 0;
  add_each(&given_back, &log->covered);
  sort(&given_back);
  for (unsigned i = 0; i < atomic_load(&pool->log_count); i++)
    if (pool->logs[i] != log)
      hand_on(&pool->logs[i]->covered);
  nvmi_node_find(hand_to_parcels, pool);
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
