/* heap_ready.c: free blocks that a log keeps for its next allocations.
 *
 * Where a program frees here and there, most spans are full, and each block that comes free would
 * be given to its span and be taken from it again, with the heap's lock in between. So a log keeps
 * some: claimed in DRAM, free in the file. They hold on to their spans, whose chunks are bounded by
 * a part of the pool.
 */
#include "heap_types.h"

enum { READY_MAX = 4096, PART_OF_CHUNKS = 32 };

struct ready {
  struct nvmi_span *span;
  uint32_t index;
};

static unsigned most(const struct nvm_pool *pool) {
  uint64_t part = (pool->header.heap_size >> NVM_CHUNK_SHIFT) / PART_OF_CHUNKS;
  return part < READY_MAX ? (unsigned)part : READY_MAX;
}

bool nvmi_ready_keep(struct nvmi_log *log, struct nvmi_span *span, uint32_t index) {
  struct ready ready = {span, index};
  if (log->ready_chunks + span->chunks > most(log->pool) ||
      !nvmi_array_push(&log->ready[span->class], &ready, sizeof ready))
    return false;
  log->ready_chunks += span->chunks;
  return true;
}

/* What the next allocation will store to: freed a while ago, here and there. A locked instruction
 * of the program would wait for each. */
static void fetch(const struct nvm_pool *pool, const struct ready *ready) {
  const struct nvmi_span *span = ready->span;
  __builtin_prefetch(&span->live[ready->index / 64], 1);
  __builtin_prefetch(&span->words[ready->index], 1);
  __builtin_prefetch(nvmi_block_address(pool, span, ready->index), 1);
}

struct nvmi_span *nvmi_ready_take(struct nvmi_log *log, uint32_t class, uint32_t *index) {
  struct nvmi_array *ready = &log->ready[class];
  if (!ready->count)
    return NULL;
  const struct ready *items = ready->items, *last = items + --ready->count;
  log->ready_chunks -= last->span->chunks;
  if (NVMI_LIKELY(ready->count > 1)) {
    __builtin_prefetch(last[-2].span);
    fetch(log->pool, last - 1);
  }
  *index = last->index;
  nvmi_set_bit(last->span->live, last->index, log->alone);
  return last->span;
}

bool nvmi_ready_give_back(struct nvmi_log *log) {
  bool any = log->ready_chunks;
  for (unsigned class = 0; class < NVMI_CLASSES && any; class ++) {
    const struct ready *ready = log->ready[class].items;
    for (size_t i = 0; i < log->ready[class].count; i++)
      nvmi_span_put(log->pool, ready[i].span, ready[i].index, log->alone);
    log->ready[class].count = 0;
  }
  log->ready_chunks = 0;
  return any;
}

void nvmi_ready_free(struct nvmi_log *log) {
  for (unsigned class = 0; class < NVMI_CLASSES; class ++)
    nvmi_array_free(&log->ready[class], sizeof(struct ready));
}
