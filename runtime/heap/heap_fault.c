/* heap_fault.c: what holds of the heap's tables while nobody has a transaction open
 * (base/invariant.h).
 */
#include "core/thread.h"
#include "heap/heap_types.h"

#ifndef NDEBUG
/* What the look through all chunks has counted. */
struct counted {
  uint64_t claimed;  /* blocks that are neither live nor free: a log keeps them */
  uint64_t kept;     /* that live in memory alone */
  uint32_t in_limbo; /* chunks of large blocks that were freed */
  uint32_t runs;     /* free ones */
};

static bool bit_of(const _Atomic uint64_t *bits, uint32_t index) {
  return atomic_load_explicit(&bits[index / 64], memory_order_relaxed) >> index % 64 & 1;
}

static const char *small_fault(struct nvm_pool *pool, const struct nvmi_span *span,
                               struct counted *counted) {
  const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, span->chunk));
  uint32_t free = 0;
  for (uint32_t i = 0; i < span->blocks; i++) {
    bool is_free = bit_of(span->free, i), is_live = bit_of(span->live, i);
    if (is_free && is_live)
      return "no block is free and live";
    if (is_live && !table[i])
      counted->kept++;
    else if (is_live ? span->words[i] != table[i] : table[i])
      return "memory and file agree which blocks live, and of which type";
    free += is_free;
    counted->claimed += !is_free && !is_live;
  }
  if (span->listed && span->owned)
    return "a span that a log owns is in no list";
  return free == span->free_count ? NULL : "a span counts its free blocks";
}

static const char *large_fault(struct nvm_pool *pool, const struct nvmi_span *span,
                               struct counted *counted) {
  bool is_live = bit_of(span->live, 0);
  uint64_t word = *nvmi_chunk_word(pool, span->chunk);
  bool is_free = word == NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, span->chunks);
  counted->in_limbo += is_live ? 0 : span->chunks;
  counted->kept += is_live && is_free;
  if (is_free ||
      (is_live && word == NVM_CHUNK_ENTRY(NVM_CHUNK_LARGE, 0, span->words[0] - 1u, span->chunks)))
    return NULL;
  return "memory and file agree which large blocks live, and of which type";
}

static const char *run_fault(const struct nvmi_heap *heap, uint32_t first) {
  uint32_t length = heap->runs.length[first], end = first + length;
  if (end > heap->chunks || heap->runs.length[end - 1] != length)
    return "a free run tells its length at both ends";
  if (end < heap->chunks && heap->runs.length[end])
    return "no free run begins where another ends";
  for (uint32_t i = first; i < end; i++)
    if (heap->chunk[i].head || (i > first && i < end - 1 && heap->runs.length[i]))
      return "a chunk of a free run is nothing else";
  return NULL;
}

/* The run that begins there; gives how many chunks it has. */
static const char *fault_at(struct nvm_pool *pool, uint32_t chunk, uint32_t *chunks,
                            struct counted *counted) {
  struct nvmi_heap *heap = pool->heap;
  const struct nvmi_span *span = heap->chunk[chunk].span;
  *chunks = 1;
  if (heap->runs.length[chunk]) {
    *chunks = heap->runs.length[chunk];
    counted->runs++;
    return run_fault(heap, chunk);
  }
  if (!span) /* no blocks, or nobody has looked at them */
    return NULL;
  *chunks = span->chunks;
  if (span->chunk != chunk || heap->chunk[chunk].head != chunk + 1)
    return "a span begins where its chunks say";
  return span->class < NVMI_CLASSES ? small_fault(pool, span, counted)
                                    : large_fault(pool, span, counted);
}

static const char *logs_fault(const struct nvm_pool *pool, uint64_t claimed) {
  for (unsigned i = 0; i < pool->log_count; i++) {
    const struct nvmi_log *log = pool->logs[i];
    uint64_t chunks = 0;
    for (unsigned class = 0; class < NVMI_CLASSES; class ++)
      for (unsigned list = 0; list < NVMI_READY_LISTS; list++) {
        claimed -= log->blocks.ready[class][list].count;
        chunks += log->blocks.ready[class][list].count * pool->heap->geometry[class].chunks;
      }
    if (chunks != log->blocks.ready_chunks)
      return "a log counts the chunks of the blocks that it keeps";
  }
  return claimed ? "a block is live, free, or kept by a log" : NULL;
}

static const char *lists_fault(const struct nvmi_heap *heap, const struct counted *counted) {
  uint32_t runs = 0, in_limbo = 0;
  for (unsigned bin = 0; bin < 32; bin++)
    for (uint32_t at = heap->runs.first[bin]; at; at = heap->runs.next[at - 1])
      runs++;
  for (const struct nvmi_span *span = heap->limbo; span; span = span->next)
    in_limbo += span->chunks;
  if (runs != counted->runs)
    return "each free run is in a list";
  return in_limbo == counted->in_limbo && in_limbo == heap->limbo_chunks
             ? NULL
             : "large blocks that were freed wait in limbo";
}

static const char *heap_fault(struct nvm_pool *pool, uint64_t kept) {
  struct nvmi_heap *heap = pool->heap;
  struct counted counted = {0};
  const char *fault = NULL;
  if (!heap->built)
    return NULL;
  for (uint32_t chunk = 0, chunks; chunk < heap->chunks && !fault; chunk += chunks)
    fault = fault_at(pool, chunk, &chunks, &counted);
  if (!fault)
    fault = lists_fault(heap, &counted);
  if (!fault && counted.kept != kept)
    fault = "blocks live in memory alone while they are kept for dependents";
  return fault ? fault : logs_fault(pool, counted.claimed);
}

/* A thread that gave blocks back for another pool's transaction (kept_blocks.h) has a log here again, and
 * may end now. */
const char *nvmi_heap_fault(struct nvm_pool *pool, uint64_t kept) {
  nvmi_threads_lock();
  const char *fault = heap_fault(pool, kept);
  nvmi_threads_unlock();
  return fault;
}
#endif
