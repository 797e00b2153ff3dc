/* heap_claim.c: a block for an allocation, claimed in DRAM: the file hears of it by the transaction
 * (heap_intents.c).
 */
#include "heap/heap_claim.h"

#include "heap/heap_chunks.h"
#include "heap/heap_ready.h"
#include "heap/heap_recent.h"
#include "heap/heap_spans.h"

/* Claims a block of the log's span; the owner alone clears bits, so one found set stays so. */
static bool claim(struct nvmi_span *span, uint32_t *index, bool solo) {
  uint32_t words = (span->blocks + 63) / 64;
  for (uint32_t i = 0; i < words; i++) {
    uint32_t word = span->hint + i < words ? span->hint + i : span->hint + i - words;
    uint64_t bits = atomic_load_explicit(&span->free[word], memory_order_relaxed);
    if (!bits)
      continue;
    *index = word * 64 + (uint32_t)__builtin_ctzll(bits);
    nvmi_clear_bit(span->free, *index, solo);
    nvmi_add_free(span, UINT32_MAX, solo);
    span->hint = word;
    return true;
  }
  return false;
}

static struct nvmi_span *claim_new(struct nvmi_log *log, uint32_t class, uint32_t *index) {
  struct nvmi_span *span = log->blocks.current[class];
  while (!span || !claim(span, index, log->alone)) {
    if (span)
      nvmi_span_give_up(log->pool, span);
    span = nvmi_span_acquire(log->pool, class);
    if (!span && nvmi_ready_give_back(log))
      span = nvmi_span_acquire(log->pool, class);
    log->blocks.current[class] = span;
    if (!span)
      return NULL;
  }
  return span;
}

static struct nvmi_intent *claim_small(struct nvmi_log *log, uint32_t class, uint32_t word) {
  uint32_t index;
  struct nvmi_intent *intent = nvmi_heap_reuse(log, class);
  if (intent)
    return intent;
  const struct nvmi_intent *ready = nvmi_ready_take(log, class, word);
  if (ready)
    return nvmi_intent_add(log, *ready);
  struct nvmi_span *span = claim_new(log, class, &index);
  return span ? nvmi_intent_add(log, nvmi_intent_of(log->pool, span, index, NVMI_ALLOCATED)) : NULL;
}

/* The run is made a free run of its own in the file: what a crash leaves there is not taken for
 * bytes that were never used. */
static struct nvmi_intent *claim_large(struct nvmi_log *log, size_t size, bool *zero) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_heap *heap = pool->heap;
  uint64_t chunks = nvmi_chunks_for(size);
  bool dirty = true;
  struct nvmi_span *span = NULL;
  nvmi_lock(&heap->lock);
  uint32_t chunk =
      nvmi_heap_build(pool) ? NVMI_NO_RUN : nvmi_chunks_take(pool, (uint32_t)chunks, &dirty);
  if (chunk != NVMI_NO_RUN) {
    nvmi_chunk_mark(pool, chunk, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, chunks));
    pool->persist->fence();
    span = nvmi_span_new(pool, NVMI_CLASSES, chunk, (uint32_t)chunks);
  }
  nvmi_unlock(&heap->lock);
  *zero = !dirty;
  return span ? nvmi_intent_add(log, nvmi_intent_of(pool, span, 0, NVMI_ALLOCATED)) : NULL;
}

struct nvmi_intent *nvmi_heap_claim(struct nvmi_log *log, size_t size, uint32_t word, bool *zero) {
  if (size <= NVMI_BLOCK_MAX)
    return claim_small(log, nvmi_class_of(size), word);
  struct nvmi_intent *intent = claim_large(log, size, zero);
  return !intent && nvmi_ready_give_back(log) ? claim_large(log, size, zero) : intent;
}
