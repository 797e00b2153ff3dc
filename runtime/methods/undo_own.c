/* undo_own.c: a transaction's lines as it left them itself, where others have stored since.
 *
 * With undo the pool has the newest bytes, whoever stored them. Of a byte that another transaction
 * stored since, that one's entry has what this one left: the oldest entry of another behind the
 * newest of this one. A release makes the transaction forget what it has noted (order_join.c), so
 * that a store behind it has an entry of its own: entries of a byte are in the order of the stores
 * that locks put in order. Stores to a new block have none before the first release; then all that
 * others have is behind them.
 */
#include "methods/undo_own.h"

#include "base/sort.h"
#include "core/captured.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "log/log_read.h"
#include "methods/methods.h"
#include "order/node.h"

#include <stdlib.h>
#include <string.h>

struct entry {
  const struct nvm_frame *frame;
  bool is_own;
};

/* Of all open transactions in the pool; under order.c's mutex. */
static struct nvmi_array entries; /* struct entry */

static void add_entry(void *is_own, const struct nvm_frame *frame) {
  struct entry found = {frame, is_own != NULL};
  nvmi_order_push(&entries, &found, sizeof found);
}

static int by_order(const void *a, const void *b) {
  uint64_t x = ((const struct entry *)a)->frame->order, y = ((const struct entry *)b)->frame->order;
  return x < y ? -1 : x > y;
}

static void find_entries(struct nvmi_log *log) {
  struct nvm_pool *pool = log->pool;
  entries.count = 0;
  for (unsigned i = 0; i < atomic_load(&pool->log_count); i++)
    if (pool->logs[i]->owner)
      nvmi_own_entries(pool->logs[i], add_entry, pool->logs[i] == log ? log : NULL);
  if (entries.count)
    nvmi_sort(entries.items, entries.count, sizeof(struct entry), by_order);
}

static int by_line(const void *a, const void *b) {
  uint64_t x = ((const struct nvmi_captured *)a)->line, y = ((const struct nvmi_captured *)b)->line;
  return x < y ? -1 : x > y;
}

/* As the pool has them now. */
static void copy_lines(const struct nvmi_line *lines, size_t count, struct nvmi_array *own) {
  for (size_t i = 0; i < count; i++)
    for (uint64_t n = 0; n < nvmi_line_count(&lines[i]); n++) {
      struct nvmi_captured copy = {.line = nvmi_line_first(&lines[i]) + n,
                                   .mask = lines[i].line & NVMI_RANGE ? UINT64_MAX : lines[i].mask};
      memcpy(copy.bytes, (const void *)(copy.line << 6), sizeof copy.bytes);
      nvmi_order_push(own, &copy, sizeof copy);
    }
  struct nvmi_captured *all = own->items;
  size_t kept = 0;
  if (own->count)
    nvmi_sort(all, own->count, sizeof *all, by_line);
  for (size_t i = 1; i < own->count; i++)
    if (all[i].line == all[kept].line)
      all[kept].mask |= all[i].mask;
    else
      all[++kept] = all[i];
  own->count = own->count ? kept + 1 : 0;
}

/* Newest first. `sequence` has the bytes of which no older entry counts: the transaction's own was
 * found. */
static void take_back(const struct nvm_pool *pool, const struct entry *entry,
                      const struct nvmi_array *own) {
  const char *old = (const char *)(entry->frame + 1);
  uintptr_t start = (uintptr_t)pool->work + entry->frame->offset;
  uintptr_t end = start + NVM_FRAME_LENGTH(entry->frame);
  for (uint64_t line = start / NVM_LINE_SIZE; line <= (end - 1) / NVM_LINE_SIZE; line++) {
    struct nvmi_captured *copy = bsearch(&(struct nvmi_captured){.line = line}, own->items,
                                         own->count, sizeof *copy, by_line);
    if (!copy)
      continue;
    uint64_t mask = nvmi_line_mask(line, start, end);
    if (entry->is_own)
      copy->sequence |= mask;
    for (uint64_t left = entry->is_own ? 0 : mask & ~copy->sequence; left; left &= left - 1) {
      unsigned i = (unsigned)__builtin_ctzll(left);
      copy->bytes[i] = old[line * NVM_LINE_SIZE + i - start];
    }
  }
}

void nvmi_undo_own_bytes(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                         struct nvmi_array *own) {
  copy_lines(lines, count, own);
  find_entries(log);
  for (size_t i = own->count ? entries.count : 0; i-- > 0;)
    take_back(log->pool, (const struct entry *)entries.items + i, own);
}
