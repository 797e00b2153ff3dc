/* direct.c: see direct.h. */
#include "tx/direct.h"

#include "heap/heap_types.h"
#include "log/checkpoint.h"
#include "log/log.h"
#include "log/record.h"

enum {
  WORTH_LINES = 8, /* whose bytes cost about what a fence does */
  WORTH_A_CHECKPOINT =
      64 << 10 /* where a checkpoint is a sync of the whole file (platform/sync.h) */
};

struct large {
  uint64_t start, end; /* file offsets */
};

static void list_large(struct nvmi_log *log) {
  const struct nvmi_intent *intents = log->intents.list.items;
  log->direct.large.count = 0;
  for (size_t i = 0; i < log->intents.list.count && log->intents.has_large; i++) {
    uint64_t start = nvmi_chunk_offset(log->pool, intents[i].span->chunk);
    struct large block = {start, start + nvmi_block_size(intents[i].span)};
    if (intents[i].fate == NVMI_ALLOCATED && intents[i].class == NVMI_CLASSES)
      nvmi_array_push(&log->direct.large, &block, sizeof block);
  }
}

static bool is_in_large(const struct nvmi_log *log, uint64_t at) {
  const struct large *large = log->direct.large.items;
  for (size_t i = 0; i < log->direct.large.count; i++)
    if (at >= large[i].start && at < large[i].end)
      return true;
  return false;
}

static bool is_checkpointed(const struct nvmi_log *log, uint64_t at, uint64_t bound) {
  uint32_t index;
  uint64_t inside;
  const struct nvmi_span *span = nvmi_block_at(log->pool, at, &index, &inside);
  return span && span->class < NVMI_CLASSES &&
         atomic_load_explicit(&span->freed_order, memory_order_acquire) < bound;
}

/* It lies in a block that the transaction allocated; that may have been freed again, then the bytes
 * are nobody's. */
static bool may_go(const struct nvmi_log *log, const struct nvmi_line *item, uint64_t bound) {
  uint64_t at = (nvmi_line_first(item) << 6) - log->pool->header.base;
  return is_in_large(log, at) || (item->line & NVMI_FRESH && is_checkpointed(log, at, bound));
}

/* What may go. `may_checkpoint`: a checkpoint hardly lengthens the commit. */
static void store_some(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                       bool may_checkpoint) {
  struct nvm_pool *pool = log->pool;
  bool solo = nvmi_solo_enter(log);
  bool is_next = solo && !pool->persist->behind; /* else the next fence is not of all before */
  uint64_t bound = atomic_load(is_next ? &pool->order : &pool->bound);
  if (!is_next && may_checkpoint)
    bound = nvmi_checkpoint(pool);
  list_large(log);
  for (size_t i = 0; i < count; i++) {
    nvmi_direct_fetch(pool, lines, i, count);
    if (!may_go(log, &lines[i], bound) || !nvmi_array_push(&log->direct.items, &i, sizeof i))
      continue;
    nvmi_direct_item(pool, &lines[i]);
    log->stats.flushed_lines += nvmi_line_count(&lines[i]);
  }
  if (log->direct.items.count) {
    nvmi_fence(log);
    nvmi_log_raise_bound(pool, bound);
    nvmi_step(NVMI_STEP_COMMIT);
  }
  nvmi_solo_leave(log);
}

void nvmi_direct_store(struct nvmi_log *log, const struct nvmi_line *lines, size_t count) {
  uint64_t all = 0, fresh = 0;
  for (size_t i = 0; i < count; i++) {
    all += nvmi_line_count(&lines[i]);
    fresh += lines[i].line & NVMI_FRESH ? lines[i].mask : 0;
  }
  log->direct.items.count = 0;
  bool is_worth = fresh >= WORTH_LINES && log->operations.count; /* else all was freed again */
  bool may_checkpoint =
      all > (log->pool->persist->behind ? WORTH_A_CHECKPOINT : NVMI_SHORT_LINES_MAX);
  if (log->pool->persist->behind && !may_checkpoint) /* bytes cost less in the record */
    is_worth = false;
  bool has_captured =
      log->captured.count > log->alias.count; /* older bytes, which the record has */
  if (!has_captured && (log->intents.has_large || is_worth))
    store_some(log, lines, count, may_checkpoint);
}

const struct nvmi_line *nvmi_direct_rest(struct nvmi_log *log, const struct nvmi_line *lines,
                                         size_t count, size_t *rest) {
  size_t all = 0, next = 0;
  uint64_t ranges = 0;
  for (size_t i = 0; i < count && all <= NVMI_SHORT_LINES_MAX; i++) {
    ranges |= lines[i].line;
    if (!nvmi_direct_went(log, i, &next))
      all += nvmi_line_count(&lines[i]);
  }
  if (!(ranges & NVMI_RANGE) || all > NVMI_SHORT_LINES_MAX ||
      !nvmi_array_reserve(&log->direct.single, all, sizeof *lines))
    return NULL;
  struct nvmi_line *single = log->direct.single.items;
  *rest = next = 0;
  for (size_t i = 0; i < count; i++) {
    bool is_range = lines[i].line & NVMI_RANGE;
    if (nvmi_direct_went(log, i, &next))
      continue;
    for (uint64_t j = 0; j < nvmi_line_count(&lines[i]); j++)
      single[(*rest)++] =
          (struct nvmi_line){nvmi_line_first(&lines[i]) + j, is_range ? UINT64_MAX : lines[i].mask};
  }
  return single;
}
