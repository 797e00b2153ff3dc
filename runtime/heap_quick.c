/* heap_quick.c: the usual ways through the heap: a small block is allocated where another was a
 * moment ago; a small block is freed. Everything else is heap.c's, mistakes too.
 *
 * Programs that take requests apart allocate and free a few blocks for each.
 */
#include "heap_locate.h"
#include "heap_recent.h"
#include "lines.h"
#include "trace.h"

/* The log in which the thread may take a quick way now: it was made, nobody is interrupted, nobody
 * watches. */
static inline struct nvmi_log *quick_log(const struct nvmi_thread *thread,
                                         const struct nvm_pool *pool) {
  if (NVMI_UNLIKELY(!pool || !thread || thread->busy || nvmi_tracing))
    return NULL;
  return thread->logs[pool->index];
}

/* As in note.c: first the thread says that it is at work, then it looks at the gate, which is shut
 * in a forked child, too. */
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

/* Up to NVMI_FRESH_NOTED bytes the classes are 16 bytes apart. */
static inline uint32_t class_of(size_t size) {
  return NVMI_LIKELY(size <= NVMI_FRESH_NOTED) ? (uint32_t)((size - 1) / 16) : nvmi_class_of(size);
}

static __attribute__((noinline)) struct nvmi_intent *take_ready(struct nvmi_log *log,
                                                                uint32_t class) {
  uint32_t index;
  struct nvmi_span *span = nvmi_ready_take(log, class, &index);
  return nvmi_heap_intend(log, span, index, NVMI_ALLOCATED);
}

void *nvm_alloc(NVM_POOL *pool, uint64_t type, size_t size) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvmi_log *log = quick_log(thread, pool);
  if (NVMI_UNLIKELY(!log || size - 1 >= NVMI_BLOCK_MAX))
    return nvmi_heap_alloc(pool, type, size);
  uint32_t class = class_of(size);
  unsigned slot = nvmi_type_slot(type);
  bool is_there = log->scrap[class] || log->ready[class].count;
  if (NVMI_UNLIKELY((type && log->types[slot].id != type) || !is_there || !enter(thread, log)))
    return nvmi_heap_alloc(pool, type, size);
  struct nvmi_intent *intent = nvmi_heap_reuse(log, class);
  if (!intent)
    intent = take_ready(log, class);
  intent->span->words[intent->index] = (uint16_t)(1 + (type ? log->types[slot].index : 0));
  log->stats.allocations++;
  void *block = intent->address;
  if (NVMI_LIKELY(size <= NVMI_FRESH_NOTED))
    nvmi_note_fresh(thread, block, 16 * (class + 1));
  else
    nvmi_note_later(thread, block, intent->span->block_size);
  leave(thread, log);
  return block;
}

int nvm_free(void *address) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvm_pool *pool = nvmi_pool_at(address);
  struct nvmi_log *log = quick_log(thread, pool);
  if (NVMI_UNLIKELY(!log))
    return nvmi_heap_free(address);
  struct nvmi_intent *intent = nvmi_recent_find(log, address);
  struct nvmi_span *span = NULL;
  uint32_t chunk, index;
  if (intent) {
    span = intent->span;
    index = intent->index;
  } else if (nvmi_small_locate(pool, address, &chunk, &index)) {
    span = atomic_load_explicit(&pool->heap->span[chunk], memory_order_acquire);
  }
  if (NVMI_UNLIKELY(!span || !enter(thread, log)))
    return nvmi_heap_free(address);
  bool lives = nvmi_clear_bit(span->live, index, log->alone);
  if (NVMI_LIKELY(lives)) {
    if (intent)
      nvmi_heap_scrap(log, intent);
    else
      nvmi_heap_intend(log, span, index, NVMI_FREED);
    log->stats.frees++;
  }
  leave(thread, log);
  return NVMI_LIKELY(lives) ? 0 : nvmi_heap_free(address); /* which says that it is free already */
}

size_t nvm_usable_size(const void *address) {
  const struct nvm_pool *pool = nvmi_pool_at(address);
  uint32_t chunk, index;
  if (NVMI_LIKELY(pool && nvmi_small_locate(pool, address, &chunk, &index)))
    return pool->heap->geometry[nvmi_class_at(pool->heap, chunk)].block_size;
  return nvmi_heap_usable_size(address);
}
