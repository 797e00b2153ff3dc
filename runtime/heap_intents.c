/* heap_intents.c: what commit and abort make of allocations and frees.
 *
 * Each writes down one operation (16 bits at a place) for the commit record; so linking a new block
 * costs no fence beyond the commit's own, abort gives the claim back, and a block freed in a
 * transaction is nobody's until it has committed.
 */
#include "heap_types.h"

static bool operate(struct nvmi_log *log, uint64_t offset, uint64_t value) {
  uint64_t operation = NVM_OPERATION(offset, value);
  return nvmi_array_push(&log->operations, &operation, sizeof operation);
}

/* The word of a block in the file: its span's table, or its run's own word, 16 bits at a time. */
static bool operate_block(struct nvmi_log *log, const struct nvmi_span *span, uint32_t index,
                          uint64_t value) {
  struct nvm_pool *pool = log->pool;
  if (span->class < NVMI_CLASSES)
    return operate(log, nvmi_chunk_offset(pool, span->chunk) + 2 * index, value);
  uint64_t at = NVM_CHUNKS_OFFSET + 8 * (uint64_t)span->chunk;
  uint64_t word = value ? NVM_CHUNK_ENTRY(NVM_CHUNK_LARGE, 0, value - 1, span->chunks)
                        : NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, span->chunks);
  for (unsigned i = 0; i < 4; i++)
    if (!operate(log, at + 2 * i, word >> (16 * i)))
      return false;
  return true;
}

void nvmi_heap_intend(struct nvmi_log *log, struct nvmi_intent intent, uint16_t word) {
  log->owner->touched |= UINT64_C(1) << log->pool->index;
  if (!nvmi_array_push(&log->intents, &intent, sizeof intent) ||
      !operate_block(log, intent.span, intent.index, word))
    nvmi_fatal(NVM_ENOMEMORY, log->pool->path,
               "out of memory for a transaction's allocations and frees");
}

/* Threads come here in any order: a lower number must not replace a higher one. */
static void raise_freed_order(struct nvmi_span *span, uint64_t order, bool solo) {
  uint64_t known = atomic_load_explicit(&span->freed_order, memory_order_relaxed);
  if (solo) {
    atomic_store_explicit(&span->freed_order, order, memory_order_relaxed);
    return;
  }
  while (known < order && !atomic_compare_exchange_weak(&span->freed_order, &known, order))
    ;
}

static void release(struct nvmi_log *log, struct nvmi_span *span, uint32_t index, bool committed) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_heap *heap = pool->heap;
  if (committed)
    raise_freed_order(span, atomic_load(&pool->order) - 1, log->alone);
  if (span->class < NVMI_CLASSES) {
    nvmi_set_bit(span->free, index, log->alone);
    uint32_t before = nvmi_add_free(span, 1, log->alone);
    if (before == 0 && !span->owned)
      nvmi_span_offer(pool, span);
    return;
  }
  nvmi_lock(&heap->lock);
  span->next = heap->limbo;
  heap->limbo = span;
  heap->limbo_chunks += span->chunks;
  nvmi_unlock(&heap->lock);
}

void nvmi_heap_released(struct nvmi_log *log) {
  const struct nvmi_intent *intents = log->intents.items;
  log->alone = nvmi_solo_enter(log);
  for (size_t i = 0; i < log->intents.count; i++)
    if (intents[i].is_free)
      release(log, intents[i].span, intents[i].index, true);
  nvmi_solo_leave(log);
  log->intents.count = 0;
  log->operations.count = 0;
}

void nvmi_heap_aborted(struct nvmi_log *log) {
  const struct nvmi_intent *intents = log->intents.items;
  log->alone = nvmi_solo_enter(log);
  for (size_t i = log->intents.count; i-- > 0;) {
    if (intents[i].is_free) {
      nvmi_set_bit(intents[i].span->live, intents[i].index, log->alone);
    } else {
      nvmi_clear_bit(intents[i].span->live, intents[i].index, log->alone);
      release(log, intents[i].span, intents[i].index, false);
    }
  }
  nvmi_solo_leave(log);
  log->intents.count = 0;
  log->operations.count = 0;
}

/* All allocations, then all frees: a block may be allocated in one part of the group and freed in
 * the other, never the other way round. */
void nvmi_heap_adopt(struct nvmi_log *log, const struct nvmi_intent *intents, size_t count) {
  struct nvmi_array own = log->intents;
  log->intents = (struct nvmi_array){0};
  log->operations.count = 0;
  for (int frees = 0; frees < 2; frees++)
    for (size_t i = 0; i < own.count + count; i++) {
      struct nvmi_intent intent =
          i < own.count ? ((struct nvmi_intent *)own.items)[i] : intents[i - own.count];
      if (intent.is_free == frees)
        nvmi_heap_intend(log, intent, frees ? 0 : intent.span->words[intent.index]);
    }
  nvmi_array_free(&own, sizeof(struct nvmi_intent));
}
