/* heap_locate.h: from an address to the block that it lies in, by one look into the table of
 * chunks: a span's own tables are seldom in the cache.
 */
#pragma once

#include "heap/heap_types.h"

struct nvmi_location {
  const struct nvmi_chunk *chunk;
  uint32_t index;  /* of the block in its span */
  uint64_t inside; /* bytes from its start on */
};

static inline uint8_t nvmi_class_of_chunk(const struct nvmi_chunk *chunk) {
  return __atomic_load_n(&chunk->class, __ATOMIC_RELAXED);
}

static inline const struct nvmi_geometry *nvmi_located_geometry(const struct nvm_pool *pool,
                                                                const struct nvmi_location *at) {
  return &pool->heap->geometry[nvmi_class_of_chunk(at->chunk)];
}

/* The block at a heap offset; false: none is there. Once the heap is built. */
static inline bool nvmi_block_locate(const struct nvmi_heap *heap, uint64_t offset,
                                     struct nvmi_location *at) {
  at->chunk = &heap->chunk[offset >> NVM_CHUNK_SHIFT];
  uint32_t head = __atomic_load_n(&at->chunk->head, __ATOMIC_ACQUIRE);
  if (!head)
    return false;
  uint64_t bytes = offset - ((uint64_t)(head - 1) << NVM_CHUNK_SHIFT);
  uint8_t class = nvmi_class_of_chunk(at->chunk);
  if (NVMI_UNLIKELY(class == NVMI_CLASSES)) {
    at->index = 0;
    at->inside = bytes;
    return true;
  }
  const struct nvmi_geometry *geometry = &heap->geometry[class];
  if (bytes < geometry->first)
    return false;
  at->index = nvmi_geometry_find(geometry, bytes - geometry->first, &at->inside);
  return at->index < geometry->blocks;
}

/* The small block that begins at an address of the pool; false: none does. */
static inline bool nvmi_small_locate(const struct nvm_pool *pool, const void *address,
                                     struct nvmi_location *at) {
  const struct nvmi_heap *heap = pool->heap;
  uint64_t offset = nvmi_offset(pool, address) - pool->header.heap_offset;
  return NVMI_LIKELY(offset >> NVM_CHUNK_SHIFT < heap->chunks_max && heap->built &&
                     nvmi_block_locate(heap, offset, at) && !at->inside &&
                     nvmi_class_of_chunk(at->chunk) < NVMI_CLASSES);
}

/* Bytes of the small block that begins at an address of the pool, which is not looked at closely;
 * 0: it is no small one, or the heap is not built. */
static inline uint32_t nvmi_small_size(const struct nvm_pool *pool, const void *address) {
  const struct nvmi_heap *heap = pool->heap;
  uint64_t offset = nvmi_offset(pool, address) - pool->header.heap_offset;
  if (NVMI_UNLIKELY(offset >> NVM_CHUNK_SHIFT >= heap->chunks_max || !heap->built))
    return 0;
  const struct nvmi_chunk *chunk = &heap->chunk[offset >> NVM_CHUNK_SHIFT];
  uint32_t head = __atomic_load_n(&chunk->head, __ATOMIC_ACQUIRE);
  uint8_t class = nvmi_class_of_chunk(chunk);
  return NVMI_LIKELY(head && class < NVMI_CLASSES) ? heap->geometry[class].block_size : 0;
}
