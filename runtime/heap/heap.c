/* heap.c: nvm_alloc and its family, in general (heap_quick.c: usually).
 *
 * Allocation claims a block in DRAM and leaves the rest to the transaction (heap_intents.c).
 */
#define _GNU_SOURCE
#include "heap/heap_ready.h"
#include "heap/heap_types.h"

#include "core/barrier.h"
#include "core/gate.h"
#include "core/lines.h"
#include "core/tracing.h"
#include "heap/heap_locate.h"
#include "heap/heap_recent.h"
#include "log/log.h"
#include "types/types.h"

#include <string.h>
#include <sys/mman.h>

static int refuse_child(const struct nvm_pool *pool) {
  return nvmi_fail(NVM_ECHILD, pool->path,
                   "a forked child cannot allocate or free; let the parent do it");
}

/* The heap's part of a call: notes of signal handlers take the nested way meanwhile. */
static struct nvmi_log *enter(struct nvm_pool *pool) {
  if (pool->forked) {
    refuse_child(pool);
    return NULL;
  }
  struct nvmi_thread *thread = nvmi_thread_self();
  struct nvmi_log *log = nvmi_log_of(thread, pool);
  if (!log)
    return NULL;
  thread->in_heap++;
  thread->busy++;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(pool->gate || nvmi_all_stand()))
    nvmi_gate_enter(thread, UINT64_C(1) << pool->index);
  log->alone = nvmi_solo_enter(log);
  return log;
}

static void leave(struct nvmi_log *log) {
  nvmi_solo_leave(log);
  nvmi_says_it_rests(log->owner);
  log->owner->busy--;
  log->owner->in_heap--;
}

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
  struct nvmi_span *span = log->current[class];
  while (!span || !claim(span, index, log->alone)) {
    if (span)
      nvmi_span_give_up(log->pool, span);
    span = nvmi_span_acquire(log->pool, class);
    if (!span && nvmi_ready_give_back(log))
      span = nvmi_span_acquire(log->pool, class);
    log->current[class] = span;
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

/* True: it is zero now. */
static bool remember(struct nvmi_log *log, char *block, size_t size) {
  if (size > NVMI_FRESH_NOTED) {
    nvmi_note_later(log->owner, block, size);
    return false;
  }
  nvmi_trace(log->pool, NVM_TRACE_NOTE, nvmi_offset(log->pool, block), size);
  nvmi_note_fresh(log->owner, block, size);
  nvmi_trace_stored(block, size);
  return true;
}

/* `*zero`: the block's bytes are. */
static char *allocate(struct nvmi_log *log, uint64_t type, size_t size, bool *zero) {
  struct nvm_pool *pool = log->pool;
  uint32_t word = 1 + (uint32_t)type;
  struct nvmi_intent *intent = size <= NVMI_BLOCK_MAX ? claim_small(log, nvmi_class_of(size), word)
                                                      : claim_large(log, size, zero);
  if (!intent && size > NVMI_BLOCK_MAX && nvmi_ready_give_back(log))
    intent = claim_large(log, size, zero);
  if (!intent)
    return NULL;
  const struct nvmi_span *span = intent->span;
  nvmi_intent_live(log, intent, word);
  log->stats.allocations++;
  char *block = intent->address;
  nvmi_trace(pool, NVM_TRACE_ALLOC, nvmi_offset(pool, block), nvmi_block_size(span));
  *zero |= remember(log, block, nvmi_block_size(span));
  return block;
}

/* Of a type, in the pool; -1: recorded. */
static int index_of(struct nvm_pool *pool, uint64_t type) {
  struct nvmi_log *log = nvmi_log_of(nvmi_thread_self(), pool);
  if (!log)
    return -1;
  unsigned slot = nvmi_type_slot(type);
  if (NVMI_UNLIKELY(log->types[slot].id != type)) {
    int index = nvmi_type_index(pool, type);
    if (index < 0)
      return -1;
    log->types[slot].index = index;
    log->types[slot].id = type;
  }
  return log->types[slot].index;
}

static void clear(char *block, size_t size) {
  __nvm_note(block, size);
  memset(block, 0, size);
  nvmi_trace_stored(block, size);
}

/* A block whose type has pointers holds nothing but what the program stores: what was left there by
 * another block is no pointer, not in what a realloc copies either. Nor is what lies behind the
 * program's bytes, where a last record may go on. */
static void *alloc(NVM_POOL *pool, uint64_t type, size_t size, bool *zero) {
  if (!pool || !size) {
    if (pool)
      nvmi_fail(NVM_EARGUMENT, pool->path, "an allocation of 0 bytes; ask for 1 byte or more");
    else
      nvmi_fail_no_pool();
    return NULL;
  }
  if (size > pool->header.span - pool->header.heap_offset) {
    nvmi_fail(NVM_ETOOLARGE, pool->path,
              "an allocation of %zu bytes; the pool may grow to %llu at most", size,
              (unsigned long long)pool->header.span);
    return NULL;
  }
  int index = type && !pool->forked ? index_of(pool, type) : 0;
  struct nvmi_log *log = index < 0 ? NULL : enter(pool);
  if (!log)
    return NULL;
  char *block = allocate(log, (uint64_t)index, size, zero);
  leave(log);
  if (block && !*zero && index) {
    size_t from = nvmi_zero_from(pool, (unsigned)index, size),
           usable = nvmi_heap_usable_size(block);
    if (from < usable)
      clear(block + from, usable - from);
    *zero = !from;
  }
  return block;
}

void *nvmi_heap_alloc(NVM_POOL *pool, uint64_t type, size_t size) {
  return alloc(pool, type, size, &(bool){false});
}

void *nvm_calloc(NVM_POOL *pool, uint64_t type, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    nvmi_fail(NVM_ETOOLARGE, pool ? pool->path : NULL, "an allocation of %zu times %zu bytes",
              count, size);
    return NULL;
  }
  bool zero = false;
  void *block = alloc(pool, type, bytes, &zero);
  if (block && !zero)
    clear(block, bytes);
  return block;
}

struct nvmi_span *nvmi_block_at(struct nvm_pool *pool, uint64_t file_offset, uint32_t *index,
                                uint64_t *inside) {
  uint64_t offset = file_offset - pool->header.heap_offset;
  struct nvmi_location at;
  if (offset >> NVM_CHUNK_SHIFT >= pool->heap->chunks_max ||
      !nvmi_block_locate(pool->heap, offset, &at))
    return NULL;
  *index = at.index;
  *inside = at.inside;
  return nvmi_span_at(pool, at.chunk);
}

static bool is_built(struct nvm_pool *pool) {
  if (NVMI_UNLIKELY(!pool->heap->built && pool->forked)) /* without the file's mapping */
    return !refuse_child(pool);
  return !nvmi_heap_ready(pool);
}

/* The block that starts at `address`; false: none, recorded. */
static bool find(const void *address, struct nvm_pool **pool, struct nvmi_location *at) {
  *pool = nvmi_pool_at(address);
  if (*pool) {
    uint64_t offset = nvmi_offset(*pool, address) - (*pool)->header.heap_offset;
    if (!is_built(*pool))
      return false;
    if (offset >> NVM_CHUNK_SHIFT < (*pool)->heap->chunks_max &&
        nvmi_block_locate((*pool)->heap, offset, at) && !at->inside)
      return true;
  }
  nvmi_fail(NVM_EPOINTER, *pool ? (*pool)->path : NULL, "%p is not the address of a block%s",
            address, *pool ? "" : " of an open pool");
  return false;
}

static uint64_t block_size_at(struct nvm_pool *pool, const struct nvmi_chunk *chunk) {
  unsigned class = nvmi_class_of_chunk(chunk);
  return NVMI_LIKELY(class < NVMI_CLASSES) ? pool->heap->geometry[class].block_size
                                           : nvmi_block_size(nvmi_span_at(pool, chunk));
}

int nvmi_heap_free(void *address) {
  struct nvm_pool *pool;
  struct nvmi_location at;
  if (!address)
    return 0;
  struct nvmi_log *log = find(address, &pool, &at) ? enter(pool) : NULL;
  if (!log)
    return -1;
  struct nvmi_span *span = nvmi_span_at(pool, at.chunk);
  int result = 0;
  if (nvmi_clear_bit(span->live, at.index, log->alone)) {
    struct nvmi_intent *intent = nvmi_recent_find(log, address);
    if (intent)
      nvmi_heap_scrap(log, intent);
    else
      nvmi_intent_add(log, nvmi_intent_of(pool, span, at.index, NVMI_FREED));
    log->stats.frees++;
    nvmi_trace(pool, NVM_TRACE_FREE, nvmi_offset(pool, address), nvmi_block_size(span));
  } else {
    result = nvmi_fail(NVM_EDOUBLEFREE, pool->path, "the block at %p is free already", address);
  }
  leave(log);
  return result;
}

size_t nvmi_heap_usable_size(const void *address) {
  struct nvm_pool *pool;
  struct nvmi_location at;
  if (!find(address, &pool, &at))
    return 0;
  return block_size_at(pool, at.chunk);
}

uint64_t nvmi_heap_room(struct nvm_pool *pool, const void *address) {
  struct nvmi_location at;
  uint64_t offset = nvmi_offset(pool, address) - pool->header.heap_offset;
  if (!is_built(pool) || offset >> NVM_CHUNK_SHIFT >= pool->heap->chunks_max ||
      !nvmi_block_locate(pool->heap, offset, &at))
    return 0;
  return block_size_at(pool, at.chunk) - at.inside;
}

uint64_t nvmi_heap_type(struct nvm_pool *pool, const void *address) {
  struct nvm_pool *home;
  struct nvmi_location at;
  if (!find(address, &home, &at) || home != pool)
    return 0;
  uint16_t word = nvmi_span_at(pool, at.chunk)->words[at.index];
  return word > 1 ? pool->type_ids[word - 1] : 0;
}

void nvmi_heap_clear_end(char *block, size_t from, size_t to) {
  while (from < to && !block[from])
    from++;
  if (from < to && !nvmi_pool_at(block)->forked)
    clear(block + from, to - from);
}

void *nvmi_heap_move(struct nvm_pool *pool, uint64_t type, void *address, size_t size,
                     size_t old_size) {
  size_t kept = size < old_size ? size : old_size;
  char *block = nvm_alloc(pool, type, size);
  if (!block)
    return NULL;
  __nvm_note(block, kept);
  memcpy(block, address, kept);
  nvmi_trace_stored(block, kept);
  if (nvm_free(address) != 0) { /* freed already */
    nvm_free(block);
    return NULL;
  }
  nvmi_called_moved(nvmi_self, address, old_size, block, nvm_usable_size(block));
  return block;
}

void *nvm_realloc(NVM_POOL *pool, void *address, size_t size) {
  struct nvmi_location at;
  struct nvm_pool *home;
  if (!address || !pool)
    return nvm_alloc(pool, 0, size);
  if (!find(address, &home, &at))
    return NULL;
  if (home != pool) {
    nvmi_fail(NVM_EPOINTER, pool->path, "%p is a block of another pool, %s; move it there", address,
              home->path);
    return NULL;
  }
  uint64_t old_size = block_size_at(pool, at.chunk);
  uint16_t word = nvmi_span_at(pool, at.chunk)->words[at.index];
  if (size && size <= old_size && size > old_size / 2) {
    if (word > 1 && nvmi_zero_from(pool, word - 1u, size) != SIZE_MAX)
      nvmi_heap_clear_end(address, size, old_size);
    nvmi_called_moved(nvmi_thread_self(), address, old_size, address, old_size);
    return address;
  }
  return nvmi_heap_move(pool, word > 1 ? pool->type_ids[word - 1] : 0, address, size, old_size);
}

enum { TABLES = sizeof(struct nvmi_chunk) + 4 * sizeof(uint32_t) }; /* bytes for each chunk */

static struct nvmi_heap *map_tables(size_t chunks) {
  struct nvmi_heap *heap = nvmi_dram_reserve(sizeof *heap);
  if (!heap)
    return NULL;
  heap->chunks_max = (uint32_t)chunks;
  heap->chunk = nvmi_dram_reserve_huge(chunks * TABLES);
  if (!heap->chunk) {
    munmap(heap, sizeof *heap);
    return NULL;
  }
  heap->unread = (uint32_t *)(heap->chunk + chunks);
  heap->runs.length = heap->unread + chunks;
  heap->runs.next = heap->unread + 2 * chunks;
  heap->runs.prev = heap->unread + 3 * chunks;
  nvmi_heap_geometries(heap);
  return heap;
}

int nvmi_heap_start(struct nvm_pool *pool) {
  if (nvmi_floor_load(pool))
    return -1;
  pool->heap = map_tables(pool->header.span >> NVM_CHUNK_SHIFT);
  if (!pool->heap)
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the heap's tables");
  pool->own_run = nvmi_heap_own_run;
  nvmi_mutex_add(&pool->heap->lock, NVMI_LOCK_HEAP);
  return 0;
}

void nvmi_heap_stop(struct nvm_pool *pool) {
  struct nvmi_heap *heap = pool->heap;
  if (!heap)
    return;
  nvmi_mutex_remove(&heap->lock); /* who forks no longer looks at the tables */
  const struct nvmi_slab *slabs = heap->slabs.items;
  for (size_t i = 0; i < heap->slabs.count; i++)
    munmap(slabs[i].start, slabs[i].size);
  nvmi_array_free(&heap->slabs, sizeof *slabs);
  munmap(heap->chunk, heap->chunks_max * TABLES);
  munmap(heap, sizeof *heap);
  pool->heap = NULL;
}
