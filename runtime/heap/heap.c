/* heap.c: a pool's heap as a whole: its tables in DRAM, and the block that an address lies in. */
#include "core/map.h"
#include "heap/heap_chunks.h"
#include "heap/heap_locate.h"
#include "heap/heap_spans.h"

#include <sys/mman.h>

int nvmi_heap_refuse_child(const struct nvm_pool *pool) {
  return nvmi_fail(NVM_ECHILD, pool->path,
                   "a forked child cannot allocate or free; let the parent do it");
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
    return !nvmi_heap_refuse_child(pool);
  return !nvmi_heap_ready(pool);
}

bool nvmi_block_find(const void *address, struct nvm_pool **pool, struct nvmi_location *at) {
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

uint64_t nvmi_block_size_at(struct nvm_pool *pool, const struct nvmi_chunk *chunk) {
  unsigned class = nvmi_class_of_chunk(chunk);
  return NVMI_LIKELY(class < NVMI_CLASSES) ? pool->heap->geometry[class].block_size
                                           : nvmi_block_size(nvmi_span_at(pool, chunk));
}

size_t nvmi_heap_usable_size(const void *address) {
  struct nvm_pool *pool;
  struct nvmi_location at;
  if (!nvmi_block_find(address, &pool, &at))
    return 0;
  return nvmi_block_size_at(pool, at.chunk);
}

uint64_t nvmi_heap_room(struct nvm_pool *pool, const void *address) {
  struct nvmi_location at;
  uint64_t offset = nvmi_offset(pool, address) - pool->header.heap_offset;
  if (!is_built(pool) || offset >> NVM_CHUNK_SHIFT >= pool->heap->chunks_max ||
      !nvmi_block_locate(pool->heap, offset, &at))
    return 0;
  return nvmi_block_size_at(pool, at.chunk) - at.inside;
}

uint64_t nvmi_heap_type(struct nvm_pool *pool, const void *address) {
  struct nvm_pool *home;
  struct nvmi_location at;
  if (!nvmi_block_find(address, &home, &at) || home != pool)
    return 0;
  uint16_t word = nvmi_span_at(pool, at.chunk)->words[at.index];
  return word > 1 ? pool->type_ids[word - 1] : 0;
}

enum { TABLES = sizeof(struct nvmi_chunk) + 4 * sizeof(uint32_t) }; /* bytes for each chunk */

/* In huge pages, but for a copy: it is open for a moment, and a huge page has to be cleared. */
static struct nvmi_heap *map_tables(const struct nvm_pool *pool) {
  size_t chunks = pool->header.range >> NVM_CHUNK_SHIFT;
  struct nvmi_heap *heap = nvmi_dram_reserve(sizeof *heap);
  if (!heap)
    return NULL;
  heap->chunks_max = (uint32_t)chunks;
  heap->chunk = (pool->is_copy ? nvmi_dram_reserve : nvmi_dram_reserve_huge)(chunks * TABLES);
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
  pool->heap = map_tables(pool);
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
