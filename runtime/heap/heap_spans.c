/* heap_spans.c: spans: runs cut into blocks of one size, and who allocates from which.
 *
 * A log owns the span it allocates from, one for each size class; its owner alone claims blocks,
 * anybody frees. Spans that nobody owns and that have free blocks wait in a list of their class.
 * After opening, a span's table in the file is read when the first block of it is freed or its
 * class needs room.
 */
#include "heap/heap_spans.h"
#include "heap/heap_runs.h"

#include "heap/heap_chunks.h"
#include "heap/heap_types.h"

#include <string.h>

enum { SLAB = 256 << 10, HUGE_SLAB = 2 << 20 };

uint32_t nvmi_class_of(size_t size) {
  if (size <= 128)
    return size <= 16 ? 0 : (uint32_t)((size - 1) / 16);
  unsigned doubling = 63 - (unsigned)__builtin_clzll(size - 1);
  size_t step = (size_t)1 << (doubling - 3);
  return 8 + (doubling - 7) * 8 + (uint32_t)((size - 1 - ((size_t)1 << doubling)) / step);
}

static uint32_t block_size_of(uint32_t class) {
  if (class < 8)
    return 16 * (class + 1);
  uint32_t doubling = (class - 8) / 8 + 7, steps = (class - 8) % 8 + 1;
  return (1u << doubling) + steps * (1u << (doubling - 3));
}

/* Runs long enough that a table and what is left over cost little, short enough for a pool of 1
 * MiB. */
void nvmi_span_shape(struct nvmi_span *span, uint32_t class) {
  uint32_t size = block_size_of(class);
  span->class = class;
  span->block_size = size;
  span->chunks = size <= 512 ? 1 : size <= 2048 ? 4 : size <= 8192 ? 8 : 32;
  uint32_t bytes = span->chunks << NVM_CHUNK_SHIFT;
  span->blocks = bytes / (size + sizeof(uint16_t));
  for (;; span->blocks--) {
    span->first = (span->blocks * (uint32_t)sizeof(uint16_t) + 63) & ~63u;
    if (span->first + span->blocks * size <= bytes)
      return;
  }
}

/* Behind the bits, of which there are two kinds. */
static uint32_t words_at(uint32_t blocks) {
  return (uint32_t)(sizeof(struct nvmi_span) + 2 * ((blocks + 63) / 64) * sizeof(uint64_t));
}

void nvmi_heap_geometries(struct nvmi_heap *heap) {
  for (uint32_t class = 0; class < NVMI_CLASSES; class ++) {
    struct nvmi_span span;
    nvmi_span_shape(&span, class);
    heap->geometry[class] =
        (struct nvmi_geometry){.first = span.first,
                               .blocks = span.blocks,
                               .block_size = span.block_size,
                               .chunks = span.chunks,
                               .words = words_at(span.blocks),
                               .inverse = (UINT64_C(1) << 40) / span.block_size + 1};
  }
  heap->geometry[NVMI_CLASSES] = (struct nvmi_geometry){.blocks = 1, .words = words_at(1)};
}

/* `span`: null, as it was not read yet. */
static void tell(struct nvmi_heap *heap, uint32_t class, uint32_t chunk, uint32_t chunks,
                 struct nvmi_span *span) {
  for (uint32_t i = 0; i < chunks; i++) {
    struct nvmi_chunk *told = &heap->chunk[chunk + i];
    atomic_store_explicit(&told->span, span, memory_order_release);
    __atomic_store_n(&told->class, (uint8_t)class, __ATOMIC_RELAXED);
    __atomic_store_n(&told->head, chunk + 1, __ATOMIC_RELEASE);
  }
}

void nvmi_span_tell(struct nvmi_heap *heap, uint32_t class, uint32_t chunk, uint32_t chunks) {
  tell(heap, class, chunk, chunks, NULL);
}

static void *slab_take(struct nvmi_heap *heap, size_t bytes) {
  size_t count = heap->slabs.count;
  if (!count || heap->slab_used + bytes > ((struct nvmi_slab *)heap->slabs.items)[count - 1].size) {
    /* A small pool needs no huge page. */
    struct nvmi_slab slab = {.size = count ? HUGE_SLAB : SLAB};
    slab.start = nvmi_dram_reserve_huge(slab.size);
    if (!slab.start || !nvmi_array_push(&heap->slabs, &slab, sizeof slab))
      nvmi_die(NULL, "out of memory for the heap's tables");
    heap->slab_used = 0;
  }
  const struct nvmi_slab *last = (struct nvmi_slab *)heap->slabs.items + heap->slabs.count - 1;
  heap->slab_used += bytes;
  return last->start + heap->slab_used - bytes;
}

/* Spans that were dropped are used again for the same class: `next` chains them. */
static struct nvmi_span *make(struct nvm_pool *pool, uint32_t class, uint32_t chunk,
                              uint32_t chunks) {
  struct nvmi_heap *heap = pool->heap;
  struct nvmi_span shape = {.chunk = chunk, .chunks = chunks, .blocks = 1, .class = class};
  if (class < NVMI_CLASSES)
    nvmi_span_shape(&shape, class);
  else
    shape.block_size = 0;
  size_t bytes = words_at(shape.blocks) + shape.blocks * sizeof(uint16_t);
  struct nvmi_span *span = heap->spare[class];
  if (span)
    heap->spare[class] = span->next;
  else
    span = slab_take(heap, (bytes + 63) & ~(size_t)63);
  memset(span, 0, bytes);
  span->chunk = chunk;
  span->chunks = shape.chunks;
  span->blocks = shape.blocks;
  span->block_size = shape.block_size;
  span->first = shape.first;
  span->class = class;
  span->free = span->live + (shape.blocks + 63) / 64;
  span->words = (uint16_t *)((char *)span + words_at(shape.blocks));
  return span;
}

static void publish(struct nvmi_heap *heap, struct nvmi_span *span) {
  tell(heap, span->class, span->chunk, span->chunks, span);
}

void nvmi_span_drop(struct nvmi_heap *heap, struct nvmi_span *span) {
  for (uint32_t i = 0; i < span->chunks; i++) {
    struct nvmi_chunk *chunk = &heap->chunk[span->chunk + i];
    __atomic_store_n(&chunk->head, 0, __ATOMIC_RELAXED);
    atomic_store_explicit(&chunk->span, NULL, memory_order_relaxed);
  }
  span->next = heap->spare[span->class];
  heap->spare[span->class] = span;
}

static void list(struct nvmi_heap *heap, struct nvmi_span *span) {
  if (span->listed)
    return;
  span->listed = true;
  span->next = heap->partial[span->class];
  heap->partial[span->class] = span;
}

/* Builds the bits from the words in the file. */
static struct nvmi_span *read_span(struct nvm_pool *pool, uint32_t chunk) {
  struct nvmi_heap *heap = pool->heap;
  uint64_t word = *nvmi_chunk_word(pool, chunk);
  uint32_t class = (word & 0xff) == NVM_CHUNK_LARGE ? NVMI_CLASSES : word >> 8 & 0xff;
  struct nvmi_span *span = make(pool, class, chunk, (uint32_t)(word >> 32));
  span->statics = class < NVMI_CLASSES && word & NVM_SPAN_STATICS;
  if (class == NVMI_CLASSES) {
    span->live[0] = 1;
    span->words[0] = (uint16_t)(1 + (word >> 16 & 0xffff));
  } else {
    const uint16_t *table = (const void *)(pool->home + nvmi_chunk_offset(pool, chunk));
    uint32_t free = 0;
    memcpy(span->words, table, span->blocks * sizeof *table);
    for (uint32_t i = 0; i < span->blocks; i++) {
      _Atomic uint64_t *bits = table[i] ? span->live : span->free;
      bits[i / 64] |= UINT64_C(1) << (i % 64);
      free += !table[i];
    }
    span->free_count = free;
    if (free)
      list(heap, span);
  }
  publish(heap, span);
  return span;
}

struct nvmi_span *nvmi_span_at(struct nvm_pool *pool, const struct nvmi_chunk *chunk) {
  struct nvmi_heap *heap = pool->heap;
  uint32_t head = __atomic_load_n(&chunk->head, __ATOMIC_RELAXED);
  if (!head)
    return NULL;
  struct nvmi_span *span = atomic_load_explicit(&chunk->span, memory_order_acquire);
  if (NVMI_LIKELY(span != NULL) || pool->forked)
    return span;
  nvmi_lock(&heap->lock);
  span = chunk->span;
  if (!span)
    span = read_span(pool, head - 1);
  nvmi_unlock(&heap->lock);
  return span;
}

void nvmi_heap_read_all(struct nvm_pool *pool) {
  struct nvmi_heap *heap = pool->heap;
  nvmi_lock(&heap->lock);
  uint32_t end = nvmi_heap_build(pool) ? 0 : heap->used_end;
  for (uint32_t chunk = 0; chunk < end; chunk++)
    if (heap->chunk[chunk].head == chunk + 1 && !heap->chunk[chunk].span)
      read_span(pool, chunk);
  nvmi_unlock(&heap->lock);
}

struct nvmi_span *nvmi_span_new(struct nvm_pool *pool, uint32_t class, uint32_t chunk,
                                uint32_t chunks) {
  struct nvmi_span *span = make(pool, class, chunk, chunks);
  publish(pool->heap, span);
  return span;
}

/* A run is to become a span of free blocks, with the caller's fence.
 * Crash before that: the run is free, or a span without a block; both mean the same (I4). The table is
 * zero before the word says that it is a table. */
static uint32_t format(struct nvm_pool *pool, uint32_t class, const struct nvmi_span *shape) {
  bool dirty;
  uint32_t chunk = nvmi_chunks_take(pool, shape->chunks, &dirty);
  if (chunk == NVMI_NO_RUN)
    return NVMI_NO_RUN;
  char *table = pool->home + nvmi_chunk_offset(pool, chunk);
  memset(table, 0, shape->first); /* also where it is zero already, unless the file is damaged */
  pool->persist->flush(table, shape->first);
  if (dirty)
    pool->persist->fence();
  nvmi_chunk_mark(pool, chunk, NVM_CHUNK_ENTRY(NVM_CHUNK_SMALL, class, 0, shape->chunks));
  return chunk;
}

static struct nvmi_span *add_free(struct nvm_pool *pool, uint32_t class, uint32_t chunk,
                                  uint32_t chunks) {
  struct nvmi_span *span = make(pool, class, chunk, chunks);
  for (uint32_t i = 0; i < span->blocks; i++)
    span->free[i / 64] |= UINT64_C(1) << (i % 64);
  span->free_count = span->blocks;
  publish(pool->heap, span);
  return span;
}

enum { SPANS_MAX = 8 }; /* few enough for a fence that knows their pages one by one */

/* How many at a time: where no commit waits for a disk, the fence here would take most of the time of
 * those who allocate. Not where what was never used is little. */
static unsigned spans_at_once(const struct nvm_pool *pool, uint32_t chunks) {
  enum { SPARE = 16 };
  return pool->persist->record && nvmi_runs_last(pool->heap) / SPARE / SPANS_MAX >= chunks
             ? SPANS_MAX
             : 1;
}

static struct nvmi_span *new_spans(struct nvm_pool *pool, uint32_t class) {
  struct nvmi_span shape, *span = NULL;
  nvmi_span_shape(&shape, class);
  uint32_t made[SPANS_MAX];
  unsigned wanted = spans_at_once(pool, shape.chunks), count = 0;
  while (count < wanted && (made[count] = format(pool, class, &shape)) != NVMI_NO_RUN)
    count++;
  if (count)
    pool->persist->fence();
  for (unsigned i = 0; i < count; i++) {
    if (span)
      list(pool->heap, span);
    span = add_free(pool, class, made[i], shape.chunks);
  }
  return span;
}

struct nvmi_span *nvmi_span_acquire(struct nvm_pool *pool, uint32_t class) {
  struct nvmi_heap *heap = pool->heap;
  nvmi_lock(&heap->lock);
  if (nvmi_heap_build(pool)) {
    nvmi_unlock(&heap->lock);
    return NULL;
  }
  while (!heap->partial[class] && heap->unread_first[class]) {
    uint32_t chunk = heap->unread_first[class] - 1;
    heap->unread_first[class] = heap->unread[chunk];
    if (heap->chunk[chunk].head == chunk + 1 && !heap->chunk[chunk].span)
      read_span(pool, chunk);
  }
  struct nvmi_span *span = heap->partial[class];
  if (span) {
    heap->partial[class] = span->next;
    span->listed = false;
  } else {
    span = new_spans(pool, class);
  }
  if (span)
    span->owned = true;
  nvmi_unlock(&heap->lock);
  return span;
}

void nvmi_span_give_up(struct nvm_pool *pool, struct nvmi_span *span) {
  nvmi_lock(&pool->heap->lock);
  span->owned = false;
  if (span->free_count)
    list(pool->heap, span);
  nvmi_unlock(&pool->heap->lock);
}

/* Asked again under the lock: its last owner may have listed it, and another log taken it, since
 * the caller looked. With two owners a block would be claimed twice. */
void nvmi_span_offer(struct nvm_pool *pool, struct nvmi_span *span) {
  nvmi_lock(&pool->heap->lock);
  if (!span->owned && span->free_count)
    list(pool->heap, span);
  nvmi_unlock(&pool->heap->lock);
}

void nvmi_span_put(struct nvm_pool *pool, struct nvmi_span *span, uint32_t index, bool solo) {
  nvmi_set_bit(span->free, index, solo);
  uint32_t before = nvmi_add_free(span, 1, solo);
  if (before == 0 && !span->owned)
    nvmi_span_offer(pool, span);
}
