/* heap_locate.h: from an address to the block that begins there, by tables in DRAM that are small
 * and mostly in the cache: a span's own are seldom.
 */
#pragma once

#include "heap_types.h"

/* Of the span or large block that begins with the chunk. */
static inline uint8_t nvmi_class_at(const struct nvmi_heap *heap, uint32_t chunk) {
  return __atomic_load_n(&heap->class[chunk], __ATOMIC_RELAXED);
}

/* The chunk that the span at a heap offset begins with, the block's place in it and what is left;
 * false: no block is there. Once the heap is built. */
static inline bool nvmi_block_locate(const struct nvmi_heap *heap, uint64_t offset, uint32_t *chunk,
                                     uint32_t *index, uint64_t *inside) {
  uint32_t head = __atomic_load_n(&heap->head[offset >> NVM_CHUNK_SHIFT], __ATOMIC_ACQUIRE);
  if (!head)
    return false;
  *chunk = head - 1;
  uint64_t bytes = offset - ((uint64_t)*chunk << NVM_CHUNK_SHIFT);
  uint8_t class = nvmi_class_at(heap, *chunk);
  if (NVMI_UNLIKELY(class == NVMI_CLASSES)) {
    *index = 0;
    *inside = bytes;
    return true;
  }
  const struct nvmi_geometry *geometry = &heap->geometry[class];
  if (bytes < geometry->first)
    return false;
  *index = nvmi_geometry_find(geometry, bytes - geometry->first, inside);
  return *index < geometry->blocks;
}

/* The same of the small block that begins at an address of the pool. */
static inline bool nvmi_small_locate(const struct nvm_pool *pool, const void *address,
                                     uint32_t *chunk, uint32_t *index) {
  const struct nvmi_heap *heap = pool->heap;
  uint64_t offset = nvmi_offset(pool, address) - pool->header.heap_offset, inside;
  return NVMI_LIKELY(offset >> NVM_CHUNK_SHIFT < heap->chunks_max && heap->built &&
                     nvmi_block_locate(heap, offset, chunk, index, &inside) && !inside &&
                     nvmi_class_at(heap, *chunk) < NVMI_CLASSES);
}

/* Bytes of the small block that begins at an address of the pool, which is not looked at closely;
 * 0: it is no small one, or the heap is not built. */
static inline uint32_t nvmi_small_size(const struct nvm_pool *pool, const void *address) {
  const struct nvmi_heap *heap = pool->heap;
  uint64_t offset = nvmi_offset(pool, address) - pool->header.heap_offset;
  if (NVMI_UNLIKELY(offset >> NVM_CHUNK_SHIFT >= heap->chunks_max || !heap->built))
    return 0;
  uint32_t head = __atomic_load_n(&heap->head[offset >> NVM_CHUNK_SHIFT], __ATOMIC_ACQUIRE);
  uint8_t class = head ? nvmi_class_at(heap, head - 1) : NVMI_CLASSES;
  return NVMI_LIKELY(class < NVMI_CLASSES) ? heap->geometry[class].block_size : 0;
}
