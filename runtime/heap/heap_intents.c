/* heap_intents.c: what commit and abort make of allocations and frees.
 *
 * Each becomes operations (16 bits at a place) of the commit record; so linking a new block costs
 * no fence beyond the commit's own, abort gives the claim back, and a block freed in a transaction
 * is nobody's until it has committed.
 *
 * A block that lives within one transaction is no operation at all. It stays claimed by the log
 * until the transaction ends: lines of it may be in the list already, and what they hold when the
 * transaction commits is written to the file.
 */
#include "heap/heap_ready.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"

#include "core/lines.h"
#include "heap/heap_recent.h"

#include <signal.h>
#include <string.h>

void nvmi_heap_forget_locals(struct nvmi_log *log) {
  for (size_t i = 0; i < log->intents.list.count; i++) {
    const struct nvmi_intent *intent = nvmi_intent_at(log, i);
    if (intent->fate == NVMI_LOCAL)
      nvmi_note_forget(log->owner, intent->address,
                       log->pool->heap->geometry[intent->class].block_size);
  }
}

/* The word of a block in the file: its span's table, or its run's own word, 16 bits at a time. */
static void operate(struct nvmi_log *log, const struct nvmi_intent *intent, uint64_t value) {
  struct nvm_pool *pool = log->pool;
  const struct nvmi_span *span = intent->span;
  uint64_t *operation = (uint64_t *)log->operations.items + log->operations.count;
  if (NVMI_LIKELY(intent->class < NVMI_CLASSES)) {
    const struct nvmi_geometry *geometry = &pool->heap->geometry[intent->class];
    uint64_t run = nvmi_offset(pool, intent->address) - geometry->first -
                   (uint64_t)intent->index * geometry->block_size;
    uint64_t at = run + 2 * (uint64_t)intent->index;
    __builtin_prefetch(pool->home + at, 1);
    __builtin_prefetch(span, 1); /* for release, as the block's word */
    __builtin_prefetch(nvmi_type_word(geometry, span, intent->index));
    *operation = NVM_OPERATION(at, value);
    log->operations.count++;
    return;
  }
  uint64_t at = NVM_CHUNKS_OFFSET + 8 * (uint64_t)span->chunk;
  uint64_t word = value ? NVM_CHUNK_ENTRY(NVM_CHUNK_LARGE, 0, value - 1, span->chunks)
                        : NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, span->chunks);
  for (unsigned i = 0; i < 4; i++)
    operation[i] = NVM_OPERATION(at + 2 * i, word >> (16 * i));
  log->operations.count += 4;
}

/* In the order of the list a block's allocation comes before its free. */
bool nvmi_heap_operate(struct nvmi_log *log) {
  log->operations.count = 0;
  if (!nvmi_array_reserve(&log->operations, 4 * log->intents.list.count, sizeof(uint64_t)))
    return false;
  for (size_t i = 0; i < log->intents.list.count; i++) {
    const struct nvmi_intent *intent = nvmi_intent_at(log, i);
    if (intent->fate != NVMI_LOCAL)
      operate(log, intent, intent->fate == NVMI_FREED ? 0 : intent->word);
  }
  return true;
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

static void release(struct nvmi_log *log, const struct nvmi_intent *intent, bool committed) {
  struct nvm_pool *pool = log->pool;
  struct nvmi_heap *heap = pool->heap;
  struct nvmi_span *span = intent->span;
  if (committed)
    raise_freed_order(span, atomic_load(&pool->order) - 1, log->alone);
  if (NVMI_LIKELY(intent->class < NVMI_CLASSES)) {
    if (!nvmi_ready_keep(log, intent))
      nvmi_span_put(pool, span, intent->index, log->alone);
    return;
  }
  nvmi_lock(&heap->lock);
  span->next = heap->limbo;
  heap->limbo = span;
  heap->limbo_chunks += span->chunks;
  nvmi_unlock(&heap->lock);
}

/* The list of another transaction begins. */
static void clear(struct nvmi_log *log) {
  if (log->intents.locals)
    memset(log->intents.local, 0, sizeof log->intents.local);
  log->intents.locals = 0;
  log->intents.has_large = false;
  log->intents.list.count = 0;
  log->operations.count = 0;
}

void nvmi_heap_released(struct nvmi_log *log) {
  log->alone = nvmi_solo_enter(log);
  for (size_t i = 0; i < log->intents.list.count; i++) {
    const struct nvmi_intent *intent = nvmi_intent_at(log, i);
    if (intent->fate != NVMI_ALLOCATED)
      release(log, intent, true);
  }
  nvmi_solo_leave(log);
  clear(log);
}

void nvmi_heap_aborted(struct nvmi_log *log) {
  log->alone = nvmi_solo_enter(log);
  for (size_t i = log->intents.list.count; i-- > 0;) {
    const struct nvmi_intent *intent = nvmi_intent_at(log, i);
    if (intent->fate == NVMI_FREED) {
      nvmi_set_bit(intent->span->live, intent->index, log->alone);
      continue;
    }
    if (intent->fate == NVMI_ALLOCATED)
      nvmi_clear_bit(intent->span->live, intent->index, log->alone);
    release(log, intent, false);
  }
  nvmi_solo_leave(log);
  clear(log);
}

void nvmi_heap_drop(struct nvmi_log *log, const struct nvmi_array *intents) {
  log->alone = nvmi_solo_enter(log);
  for (size_t i = 0; i < intents->count; i++) {
    const struct nvmi_intent *intent = (struct nvmi_intent *)intents->items + i;
    nvmi_clear_bit(intent->span->live, intent->index, log->alone);
    release(log, intent, false);
  }
  nvmi_solo_leave(log);
}

void nvmi_frees_look(struct nvmi_log *log) {
  for (unsigned i = 0; i < log->intents.awaited_count; i++) {
    const struct nvmi_intent *intent = &log->intents.awaited[i];
    if (NVMI_UNLIKELY(!nvmi_clear_bit(intent->span->live, intent->index, log->alone)))
      nvmi_die(NULL, "free(%p): %s: the block is free already", (void *)intent->address,
               log->pool->path);
    nvmi_intent_put(log, *intent);
  }
  log->intents.awaited_count = 0;
}

void nvmi_frees_check(struct nvmi_log *log) {
  log->alone = nvmi_solo_enter(log);
  nvmi_frees_look(log);
  nvmi_solo_leave(log);
}

struct nvmi_array nvmi_heap_pack(struct nvmi_log *log) {
  nvmi_frees_check(log);
  struct nvmi_array intents = log->intents.list;
  log->intents.list = (struct nvmi_array){0};
  clear(log);
  return intents;
}

/* All allocations, then all frees: a block may be allocated in one part of the group and freed in
 * the other, never the other way round. Local blocks wait for the end. */
void nvmi_heap_adopt(struct nvmi_log *log, const struct nvmi_intent *intents, size_t count) {
  struct nvmi_array own = nvmi_heap_pack(log);
  for (int frees = 0; frees < 2; frees++)
    for (size_t i = 0; i < own.count + count; i++) {
      struct nvmi_intent intent =
          i < own.count ? ((struct nvmi_intent *)own.items)[i] : intents[i - own.count];
      if ((intent.fate == NVMI_FREED) == frees)
        nvmi_intent_add(log, intent);
    }
  nvmi_array_free(&own, sizeof(struct nvmi_intent));
}
