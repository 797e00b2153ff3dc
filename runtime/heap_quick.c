/* heap_quick.c: the usual ways through the heap: a small block is allocated where another was a
 * moment ago, and what the transaction allocated is freed. Everything else is heap.c's.
 *
 * Programs that take requests apart allocate and free a few blocks for each. Such a block is found
 * by its address in a table of the log, and costs no look at its span's tables in DRAM.
 */
#include "heap_types.h"

#include "heap_recent.h"
#include "trace.h"

/* The log in which the thread may take a quick way now: it was made, nobody is interrupted, nobody
 * watches. */
static inline struct nvmi_log *quick_log(const struct nvmi_thread *thread,
                                         const struct nvm_pool *pool) {
  if (NVMI_UNLIKELY(!pool || !thread || thread->busy || pool->forked || nvmi_tracing))
    return NULL;
  return thread->logs[pool->index];
}

/* As in note.c: first the thread says that it is at work, then it looks at the gate. */
static inline bool enter(struct nvmi_thread *thread, struct nvmi_log *log) {
  thread->busy = 1;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(log->pool->gate)) {
    thread->busy = 0;
    return false;
  }
  log->alone = nvmi_solo_enter(log);
  return true;
}

static inline void leave(struct nvmi_thread *thread, struct nvmi_log *log) {
  nvmi_solo_leave(log);
  nvmi_compiler_barrier();
  thread->busy = 0;
}

static inline void *allocate(struct nvmi_thread *thread, struct nvmi_log *log, uint32_t class,
                             uint16_t word) {
  uint32_t index;
  if (!enter(thread, log))
    return NULL;
  struct nvmi_span *span = nvmi_heap_reuse(log, class, &index);
  if (!span && (span = nvmi_ready_take(log, class, &index)))
    nvmi_heap_intend(log, span, index, NVMI_ALLOCATED);
  char *block = NULL;
  if (NVMI_LIKELY(span != NULL)) {
    span->words[index] = word;
    log->stats.allocations++;
    block = nvmi_block_address(log->pool, span, index);
    thread->fresh_stores = true;
    nvmi_note_fresh(thread, block, span->block_size);
  }
  leave(thread, log);
  return block;
}

void *nvm_alloc(NVM_POOL *pool, uint64_t type, size_t size) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvmi_log *log = quick_log(thread, pool);
  if (NVMI_LIKELY(log && size - 1 < NVMI_FRESH_NOTED)) {
    uint32_t class = nvmi_class_of(size);
    unsigned slot = nvmi_type_slot(type);
    bool known = !type || log->types[slot].id == type;
    int index = type ? log->types[slot].index : 0;
    if (known && (log->scrap[class] || log->ready[class].count)) {
      void *block = allocate(thread, log, class, (uint16_t)(1 + index));
      if (NVMI_LIKELY(block != NULL))
        return block;
    }
  }
  return nvmi_heap_alloc(pool, type, size);
}

int nvm_free(void *address) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvmi_log *log = quick_log(thread, nvmi_pool_at(address));
  struct nvmi_intent *intent = log ? nvmi_recent_find(log, address) : NULL;
  if (!intent || !enter(thread, log))
    return nvmi_heap_free(address);
  bool lives = nvmi_clear_bit(intent->span->live, intent->index, log->alone);
  if (NVMI_LIKELY(lives)) {
    nvmi_heap_scrap(log, intent);
    log->stats.frees++;
  }
  leave(thread, log);
  return lives ? 0 : nvmi_heap_free(address); /* which says that it is free already */
}

size_t nvm_usable_size(const void *address) {
  struct nvmi_log *log = quick_log(nvmi_self, nvmi_pool_at(address));
  const struct nvmi_intent *intent = log ? nvmi_recent_find(log, address) : NULL;
  return intent ? intent->span->block_size : nvmi_heap_usable_size(address);
}
