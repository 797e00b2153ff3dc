/* resize.c: the file grows when the heap asks for more, and both ways when somebody asks for it. */
#define _GNU_SOURCE
#include "heap/resize.h"
#include "heap/heap_chunks.h"
#include "heap/heap_runs.h"

#include "base/kill.h"
#include "core/header.h"
#include "core/map.h"
#include "core/tracing.h"
#include "heap/heap_types.h"
#include "platform/disk.h"

#include "nvmove/inspect.h"

#include <string.h>
#include <unistd.h>

/* Words of chunks that were none until now: they are zero, unless the file is damaged. Fenced
 * before the header speaks of them; a crash before that leaves words that nobody reads. */
static void clear_words(struct nvm_pool *pool, uint64_t old_size) {
  uint64_t *first = nvmi_chunk_word(pool, (uint32_t)(old_size >> NVM_CHUNK_SHIFT));
  size_t size = ((pool->header.heap_size - old_size) >> NVM_CHUNK_SHIFT) * sizeof *first;
  memset(first, 0, size);
  pool->persist->flush(first, size);
  pool->persist->fence();
}

/* The file with its new size. On a disk by a sync of its own kind, which no error passes by (sync.h). */
static int bring_to_disk(struct nvm_pool *pool) {
  if (!pool->persist->fence_all)
    return nvmi_disk_sync(pool->path, pool->fd);
  pool->persist->fence_all(pool->home);
  return 0;
}

/* Crash before the header says so: the file is longer than its heap, as where one died that made it
 * shorter. Chunks that were never used are zero: so what lies there is given up first. */
static int grow(struct nvm_pool *pool, uint64_t step, uint64_t wish) {
  struct nvm_header *h = &pool->header;
  uint64_t old_size = h->heap_size, end = h->heap_offset + old_size, size = wish;
  if (nvmi_disk_cut(pool->path, pool->fd, end))
    return -1;
  if (nvmi_disk_allocate(pool->path, pool->fd, end, size, NVMI_PATIENCE_GROW) &&
      (size == step ||
       nvmi_disk_allocate(pool->path, pool->fd, end, size = step, NVMI_PATIENCE_GROW)))
    return -1;
  if (nvmi_disk_allocate(pool->path, pool->fd, NVM_CHUNKS_OFFSET,
                         nvmi_chunk_table_size(old_size + size), NVMI_PATIENCE_GROW))
    return -1;
  nvmi_step(NVMI_STEP_GROW);
  if (bring_to_disk(pool))
    return -1;
  h->heap_size = old_size + size;
  if (nvmi_map_growth(pool, old_size, pool->method->private_work)) {
    h->heap_size = old_size;
    return -1;
  }
  nvmi_map_virgin(pool, end, nvmi_file_size(h));
  clear_words(pool, old_size);
  nvmi_step(NVMI_STEP_GROW);
  nvmi_header_write(pool);
  nvmi_step(NVMI_STEP_GROW);
  nvmi_trace(pool, NVM_TRACE_GROW, nvmi_file_size(h), 0);
  return 0;
}

int nvmi_heap_grow(struct nvm_pool *pool, uint64_t bytes) {
  const struct nvm_header *h = &pool->header;
  uint64_t most = h->range - h->heap_offset - h->heap_size;
  uint64_t step = (bytes + NVM_CHUNK_SIZE - 1) & ~(NVM_CHUNK_SIZE - 1);
  if (step > most)
    return nvmi_fail(
        NVM_ENOMEMORY, pool->path,
        "the pool is full and may not grow beyond %llu MiB; 'nvmove pool convert --size' "
        "makes one that may",
        (unsigned long long)(h->range >> 20));
  uint64_t wish = h->heap_size / 4 & ~(NVM_CHUNK_SIZE - 1);
  if (wish >= NVMI_HUGE_PAGE) /* so that the next growth begins with a huge page */
    wish -= (h->heap_offset + h->heap_size + wish) % NVMI_HUGE_PAGE;
  return grow(pool, step, wish < step ? step : wish > most ? most : wish);
}

/* A free run of the file that goes on behind `chunk`, where the heap will end, is made two. Crash in
 * between: what lies inside the first says nothing yet, or both are there. */
static void split_at(struct nvm_pool *pool, uint32_t first, uint32_t chunk) {
  for (uint32_t at = first, count; at < chunk; at += count) {
    uint64_t word = *nvmi_chunk_word(pool, at);
    count = word ? (uint32_t)(word >> 32) : 1;
    if (at + count <= chunk)
      continue;
    nvmi_chunk_mark(pool, chunk, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, at + count - chunk));
    pool->persist->fence();
    nvmi_step(NVMI_STEP_GROW);
    nvmi_chunk_mark(pool, at, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, chunk - at));
    pool->persist->fence();
    nvmi_step(NVMI_STEP_GROW);
  }
}

/* Gives up the free chunks from `chunk` on, which end the heap. Crash before the header is durable:
 * nothing has happened. After: the file is longer than its heap. No record of a log names them: the
 * logs are empty. */
static int shrink(struct nvm_pool *pool, uint32_t chunk) {
  struct nvmi_heap *heap = pool->heap;
  struct nvm_header *h = &pool->header;
  uint64_t old_size = h->heap_size;
  if (nvmi_disk_stands(pool->path, pool->fd))
    return -1;
  split_at(pool, heap->chunks - nvmi_runs_last(heap), chunk);
  nvmi_runs_cut(heap, chunk);
  heap->chunks = chunk;
  heap->used_end = heap->used_end < chunk ? heap->used_end : chunk;
  h->heap_size = (uint64_t)chunk << NVM_CHUNK_SHIFT;
  nvmi_step(NVMI_STEP_GROW);
  nvmi_header_write(pool);
  nvmi_step(NVMI_STEP_GROW);
  nvmi_trace(pool, NVM_TRACE_GROW, nvmi_file_size(h), 0);
  if (nvmi_unmap_end(pool, old_size))
    return nvmi_disk_fail(pool->path, "the end of the file cannot be given back");
  if (nvmi_disk_cut(pool->path, pool->fd, nvmi_file_size(h)))
    return -1;
  return bring_to_disk(pool);
}

/* The heap's new size for a file of so many bytes, a multiple of chunks. */
static uint64_t heap_for(const struct nvm_header *h, uint64_t size) {
  uint64_t heap = size > h->heap_offset ? (size - h->heap_offset) & ~(NVM_CHUNK_SIZE - 1) : 0;
  return heap < NVM_CHUNK_SIZE ? NVM_CHUNK_SIZE : heap;
}

static int resize(struct nvm_pool *pool, uint64_t wanted) {
  struct nvmi_heap *heap = pool->heap;
  uint64_t size = pool->header.heap_size;
  if (nvmi_heap_build(pool))
    return -1;
  if (wanted > size) {
    if (grow(pool, wanted - size, wanted - size))
      return -1;
    heap->chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
    nvmi_runs_add(heap, (uint32_t)(size >> NVM_CHUNK_SHIFT),
                  (uint32_t)((wanted - size) >> NVM_CHUNK_SHIFT));
    return 0;
  }
  uint32_t least = heap->chunks - nvmi_runs_last(heap),
           chunk = (uint32_t)(wanted >> NVM_CHUNK_SHIFT);
  chunk = chunk < least ? least : chunk ? chunk : 1;
  return chunk < heap->chunks ? shrink(pool, chunk) : 0;
}

int nvm_pool_resize(NVM_POOL *pool, size_t size) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (size > pool->header.range)
    return nvmi_fail(
        NVM_ETOOLARGE, pool->path,
        "it may not grow beyond %llu bytes; 'nvmove pool convert --size' makes one that may",
        (unsigned long long)pool->header.range);
  if (pool->forked || pool->log_count)
    return nvmi_fail(pool->forked ? NVM_ECHILD : NVM_EOPENTX, pool->path,
                     "its size changes only before the first store; open it anew");
  nvmi_lock(&pool->heap->lock);
  int result = resize(pool, heap_for(&pool->header, size));
  nvmi_unlock(&pool->heap->lock);
  return result;
}
