/* block_quick.c: the usual ways through the heap: a small block is allocated where another was a
 * moment ago; a small block is freed. Everything else is block_alloc.c's, mistakes too.
 *
 * Programs that take requests apart allocate and free a few blocks for each.
 */
#include "alloc/block_quick.h"
#include "heap/heap_spans.h"
#include "types/judged.h"

#include "alloc/block_alloc.h"
#include "core/barrier.h"
#include "core/lines.h"
#include "core/map.h"
#include "core/tracing.h"
#include "heap/heap_locate.h"
#include "heap/heap_ready.h"
#include "heap/heap_recent.h"
#include "order/order.h"
#include "types/types.h"

/* The log in which the thread may take a quick way now: it was made, nobody is interrupted. */
static inline struct nvmi_log *quick_log(const struct nvmi_thread *thread,
                                         const struct nvm_pool *pool) {
  if (NVMI_UNLIKELY(!pool || !thread || thread->busy))
    return NULL;
  return thread->logs[pool->index];
}

/* As in note.c: first the thread says that it is at work, then it looks at the gate, which is shut
 * in a forked child, too; nobody watches. */
static inline bool enter(struct nvmi_thread *thread, struct nvmi_log *log) {
  thread->busy = 1;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(log->pool->gate || nvmi_goes_slowly())) {
    thread->busy = 0;
    return false;
  }
  log->alone = nvmi_solo_enter(log);
  return true;
}

static inline void leave(struct nvmi_thread *thread, struct nvmi_log *log) {
  nvmi_solo_leave(log);
  nvmi_says_it_rests(thread);
  nvmi_compiler_barrier();
  thread->busy = 0;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(thread->posts_count))
    nvmi_order_post(thread);
}

/* Up to NVMI_FRESH_NOTED bytes the classes are 16 bytes apart. */
static inline uint32_t class_of(size_t size) {
  return NVMI_LIKELY(size <= NVMI_FRESH_NOTED) ? (uint32_t)((size - 1) / 16) : nvmi_class_of(size);
}

static __attribute__((noinline)) struct nvmi_intent *take_ready(struct nvmi_log *log,
                                                                uint32_t class, uint32_t word) {
  return nvmi_intent_add(log, *nvmi_ready_take(log, class, word));
}

void *nvm_alloc(NVM_POOL *pool, uint64_t type, size_t size) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvmi_log *log = quick_log(thread, pool);
  if (NVMI_UNLIKELY(!log || size - 1 >= NVMI_BLOCK_MAX))
    return nvmi_alloc_slowly(pool, type, size);
  uint32_t class = class_of(size);
  unsigned slot = nvmi_type_slot(type);
  if (NVMI_UNLIKELY(size > NVMI_FRESH_NOTED && type &&
                    !nvmi_is_plain(pool, (unsigned)log->blocks.types[slot].index)))
    return nvmi_alloc_slowly(pool, type, size);
  uint32_t word = 1 + (type ? (uint32_t)log->blocks.types[slot].index : 0);
  /* Nobody takes these away while the thread is not at work. */
  bool is_there = log->intents.local[class] || nvmi_ready_list(log, class, word)->count;
  if (NVMI_UNLIKELY((type && log->blocks.types[slot].id != type) || !is_there ||
                    !enter(thread, log)))
    return nvmi_alloc_slowly(pool, type, size);
  struct nvmi_intent *intent = nvmi_heap_reuse(log, class);
  if (!intent)
    intent = take_ready(log, class, word);
  nvmi_intent_live(log, intent, word);
  log->stats.allocations++;
  void *block = intent->address;
  if (NVMI_LIKELY(size <= NVMI_FRESH_NOTED))
    nvmi_note_fresh(thread, block, 16 * (class + 1));
  else
    nvmi_note_later(thread, block, pool->heap->geometry[class].block_size);
  leave(thread, log);
  return block;
}

/* Of a small block that is older than the transaction: the intent to free it. Null span: not that
 * simple. */
static inline struct nvmi_intent freed(const struct nvm_pool *pool, void *address) {
  struct nvmi_intent intent = {.address = address, .fate = NVMI_FREED};
  struct nvmi_location at;
  if (nvmi_small_locate(pool, address, &at)) {
    intent.span = atomic_load_explicit(&at.chunk->span, memory_order_acquire);
    intent.index = (uint16_t)at.index;
    intent.class = nvmi_class_of_chunk(at.chunk);
  }
  return intent;
}

int nvm_free(void *address) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvm_pool *pool = nvmi_pool_at(address);
  struct nvmi_log *log = quick_log(thread, pool);
  if (NVMI_UNLIKELY(!log))
    return nvmi_free_slowly(address);
  if (NVMI_UNLIKELY(!enter(thread, log)))
    return nvmi_free_slowly(address);
  struct nvmi_intent *known = nvmi_recent_find(log, address);
  struct nvmi_intent intent = known ? *known : freed(pool, address);
  bool lives = intent.span && nvmi_clear_bit(intent.span->live, intent.index, log->alone);
  if (NVMI_LIKELY(lives)) {
    if (known)
      nvmi_heap_make_local(log, known);
    else
      nvmi_intent_add(log, intent);
    log->stats.frees++;
  }
  leave(thread, log);
  return NVMI_LIKELY(lives) ? 0 : nvmi_free_slowly(address); /* large, or a mistake */
}

/* A free of an old block looks at a line that nobody had a use for until then. It is asked for, and
 * looked at some frees later, or when the transaction ends. */
bool nvmi_free_soon(void *address) {
  struct nvmi_thread *thread = nvmi_self;
  struct nvm_pool *pool = nvmi_pool_at(address);
  struct nvmi_log *log = quick_log(thread, pool);
  if (NVMI_UNLIKELY(!log || !enter(thread, log)))
    return false;
  struct nvmi_intent intent = freed(pool, address);
  bool is_old = intent.span && !nvmi_recent_find(log, address);
  if (NVMI_LIKELY(is_old)) {
    __builtin_prefetch(&intent.span->live[intent.index / 64], 1);
    if (log->intents.awaited_count == NVMI_AWAITED_MAX)
      nvmi_frees_look(log);
    nvmi_intends(log);
    log->intents.awaited[log->intents.awaited_count++] = intent;
    log->stats.frees++;
  }
  leave(thread, log);
  return is_old;
}

size_t nvm_usable_size(const void *address) {
  const struct nvm_pool *pool = nvmi_pool_at(address);
  struct nvmi_location at;
  if (NVMI_LIKELY(pool && nvmi_small_locate(pool, address, &at)))
    return pool->heap->geometry[nvmi_class_of_chunk(at.chunk)].block_size;
  return nvmi_heap_usable_size(address);
}
