/* heap_ready.c: free blocks that a log keeps for its next allocations.
 *
 * Where a program frees here and there, most spans are full, and each block that comes free would
 * be given to its span and be taken from it again, with the heap's lock in between. So a log keeps
 * some: claimed in DRAM, free in the file. They hold on to their spans, whose chunks are bounded by
 * an eighth of the pool, divided by the logs there are. A list may have what the others leave, and
 * no more than it leaves to them: one that is not used any more does not take all.
 *
 * A block goes to what is allocated with the type that it had. A program that replaces values of
 * one type beside adding records of another gives the records blocks of spans, in a row: what it
 * allocates together, and will look at together, lies together.
 */
#include "heap/heap_ready.h"
#include "heap/heap_spans.h"

enum { PART_OF_CHUNKS = 8 };

bool nvmi_ready_keep(struct nvmi_log *log, const struct nvmi_intent *intent) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_intent ready = *intent;
  ready.fate = NVMI_ALLOCATED;
  const struct nvmi_geometry *geometry = &pool->heap->geometry[intent->class];
  struct nvmi_array *kept =
      nvmi_ready_list(log, intent->class, *nvmi_type_word(geometry, intent->span, intent->index));
  uint64_t chunks = geometry->chunks;
  uint64_t logs = atomic_load_explicit(&pool->log_count, memory_order_relaxed);
  uint64_t most = (pool->header.heap_size >> NVM_CHUNK_SHIFT) / PART_OF_CHUNKS;
  if (NVMI_UNLIKELY((log->blocks.ready_chunks + (kept->count + 1) * chunks) * logs > most) ||
      !nvmi_array_push(kept, &ready, sizeof ready))
    return false;
  log->blocks.ready_chunks += (unsigned)chunks;
  return true;
}

/* What the next allocation will store to: freed a while ago, here and there. A locked instruction
 * of the program would wait for each. */
static void fetch(const struct nvmi_intent *ready, const struct nvmi_geometry *geometry) {
  __builtin_prefetch(nvmi_type_word(geometry, ready->span, ready->index), 1);
  __builtin_prefetch((void *)&ready->span->live[ready->index / 64], 1);
  __builtin_prefetch(ready->address, 1);
}

const struct nvmi_intent *nvmi_ready_take(struct nvmi_log *log, uint32_t class, uint32_t word) {
  struct nvmi_array *ready = nvmi_ready_list(log, class, word);
  if (!ready->count)
    return NULL;
  const struct nvmi_intent *items = ready->items, *last = items + --ready->count;
  const struct nvmi_geometry *geometry = &log->pool->heap->geometry[class];
  log->blocks.ready_chunks -= geometry->chunks;
  if (NVMI_LIKELY(ready->count))
    fetch(last - 1, geometry);
  return last;
}

bool nvmi_ready_give_back(struct nvmi_log *log) {
  bool any = log->blocks.ready_chunks;
  for (unsigned class = 0; class < NVMI_CLASSES && any; class ++)
    for (unsigned list = 0; list < NVMI_READY_LISTS; list++) {
      const struct nvmi_intent *ready = log->blocks.ready[class][list].items;
      for (size_t i = 0; i < log->blocks.ready[class][list].count; i++)
        nvmi_span_put(log->pool, ready[i].span, ready[i].index, log->alone);
      log->blocks.ready[class][list].count = 0;
    }
  log->blocks.ready_chunks = 0;
  return any;
}

void nvmi_ready_detach(struct nvmi_log *log) {
  log->alone = nvmi_solo_enter(log);
  nvmi_ready_give_back(log);
  nvmi_solo_leave(log);
  nvmi_log_detach(log);
}

void nvmi_ready_free(struct nvmi_log *log) {
  for (unsigned class = 0; class < NVMI_CLASSES; class ++)
    for (unsigned list = 0; list < NVMI_READY_LISTS; list++)
      nvmi_array_free(&log->blocks.ready[class][list], sizeof(struct nvmi_intent));
}
