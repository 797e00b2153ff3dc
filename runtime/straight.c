/* straight.c: see straight.h. */
#include "straight.h"

#include "heap_types.h"
#include "record.h"

struct large {
  uint64_t start, end; /* file offsets */
};

/* None when the transaction's lines may not go straight: memory is out, or an older value in the
 * record would be replayed over a newer one that did. */
void nvmi_straight_begin(struct nvmi_log *log) {
  const struct nvmi_intent *intents = log->intents.items;
  log->straight.count = 0;
  log->large.count = 0;
  for (size_t i = 0; i < log->intents.count && log->has_large && !log->sealed.count; i++) {
    uint64_t start = nvmi_chunk_offset(log->pool, intents[i].span->chunk);
    struct large block = {start, start + nvmi_block_size(intents[i].span)};
    if (intents[i].fate == NVMI_ALLOCATED && intents[i].class == NVMI_CLASSES)
      nvmi_array_push(&log->large, &block, sizeof block);
  }
}

static bool is_in_large(const struct nvmi_log *log, uint64_t at) {
  const struct large *large = log->large.items;
  for (size_t i = 0; i < log->large.count; i++)
    if (at >= large[i].start && at < large[i].end)
      return true;
  return false;
}

/* The range lies in a block that the transaction allocated; it may have freed it again, then the
 * bytes are nobody's. */
static bool may_go(const struct nvmi_log *log, const struct nvmi_line *item, uint64_t at,
                   uint64_t bound) {
  uint32_t index;
  uint64_t inside;
  if (!(item->line & NVMI_FRESH) || log->sealed.count)
    return false;
  const struct nvmi_span *span = nvmi_block_at(log->pool, at, &index, &inside);
  return span && span->class < NVMI_CLASSES &&
         atomic_load_explicit(&span->freed_order, memory_order_acquire) < bound;
}

bool nvmi_straight_take(struct nvmi_log *log, const struct nvmi_line *item, size_t index,
                        uint64_t bound) {
  uint64_t at = (nvmi_line_first(item) << 6) - log->pool->header.base;
  return (is_in_large(log, at) || may_go(log, item, at, bound)) &&
         nvmi_array_push(&log->straight, &index, sizeof index);
}

const struct nvmi_line *nvmi_lines_single(struct nvmi_log *log, const struct nvmi_line *lines,
                                          size_t count, size_t *single) {
  uint64_t all = 0, ranges = 0;
  for (size_t i = 0; i < count && all <= NVMI_PAYLOAD_MAX / NVMI_LINE_PAYLOAD_MAX; i++) {
    all += nvmi_line_count(&lines[i]);
    ranges |= lines[i].line;
  }
  if (!(ranges & NVMI_RANGE) || all > NVMI_PAYLOAD_MAX / NVMI_LINE_PAYLOAD_MAX ||
      !nvmi_array_reserve(&log->single, all, sizeof *lines))
    return NULL;
  struct nvmi_line *made = log->single.items;
  *single = 0;
  for (size_t i = 0; i < count; i++)
    for (uint64_t j = 0; j < nvmi_line_count(&lines[i]); j++) {
      bool is_range = lines[i].line & NVMI_RANGE;
      made[(*single)++] =
          (struct nvmi_line){nvmi_line_first(&lines[i]) + j, is_range ? UINT64_MAX : lines[i].mask};
    }
  return made;
}
