/* heap_chunks.c: runs of chunks in the file: taking, marking, giving back, and reading them all.
 *
 * Splitting a free run writes the word of its rest first, while that still lies inside the old run
 * (invariant I5 of layout.h). A run whose old use may still be named by a log record is not taken
 * before the replay floor has passed that record (docs/internals/crash-consistency.md, N2).
 */
#define _GNU_SOURCE
#include "heap/heap_chunks.h"

#include "heap/heap_runs.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"

#include "core/map.h"
#include "core/tracing.h"
#include "heap/resize.h"
#include "heap/run_owner.h"
#include "log/checkpoint.h"
#include "log/log.h"
#include "log/log_read.h"

#include <assert.h>
#include <sys/mman.h>

enum { LIMBO_MAX = 64 }; /* chunks that wait for the floor before it is raised for them: 1 MiB */

void nvmi_chunk_mark(struct nvm_pool *pool, uint32_t chunk, uint64_t word) {
  uint64_t *at = nvmi_chunk_word(pool, chunk);
  __atomic_store_n(at, word, __ATOMIC_RELAXED);
  pool->persist->flush(at, sizeof *at);
}

static struct nvm_floor *floor_of(const struct nvm_pool *pool) {
  return (struct nvm_floor *)(pool->home + NVM_FLOOR_OFFSET);
}

/* Numbers go on where the floor is. So one that an earlier opening left lies below all records of
 * this one, and the floor is a single word, which no crash tears. */
int nvmi_floor_load(struct nvm_pool *pool) {
  uint64_t order = floor_of(pool)->order;
  if (order > NVM_ORDER_MAX)
    return nvmi_fail(NVM_ECORRUPT, pool->path, "the replay floor is damaged; " NVMI_REPAIR_HINT);
  if (pool->order < order)
    pool->order = order;
  return 0;
}

/* Not fenced: see reclaim(). */
static uint64_t raise_floor(struct nvm_pool *pool) {
  struct nvm_floor *floor = floor_of(pool);
  uint64_t bound = nvmi_checkpoint(pool);
  assert(bound >= floor->order);
  *(volatile uint64_t *)&floor->order = bound;
  pool->persist->flush(floor, sizeof *floor);
  return bound;
}

/* Frees runs that nothing is left in and that no replayed record can name. What this writes, the
 * floor too, is covered by the next fence of this thread, before it gives the heap's lock away: a
 * table is cleared and fenced before a word says that it is one, the bytes of a large block or a
 * segment follow the fence of its word. Without, another thread, whose fences say nothing about
 * this one's flushes, could use what was reclaimed here. A crash before that fence may replay the
 * old record into memory that is nobody's. */
static void reclaim(struct nvm_pool *pool) {
  struct nvmi_heap *heap = pool->heap;
  uint64_t floor = raise_floor(pool);
  struct nvmi_span **link = &heap->limbo, *span;
  while ((span = *link)) {
    if (span->freed_order >= floor) {
      link = &span->next;
      continue;
    }
    *link = span->next;
    heap->limbo_chunks -= span->chunks;
    nvmi_runs_add(heap, span->chunk, span->chunks);
    nvmi_span_drop(heap, span);
  }
  for (unsigned class = 0; class < NVMI_CLASSES; class ++) {
    link = &heap->partial[class];
    while ((span = *link)) {
      if (span->free_count != span->blocks || span->freed_order >= floor) {
        link = &span->next;
        continue;
      }
      *link = span->next;
      nvmi_chunk_mark(pool, span->chunk, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, span->chunks));
      nvmi_runs_add(heap, span->chunk, span->chunks);
      nvmi_span_drop(heap, span);
    }
  }
}

static uint32_t find(struct nvm_pool *pool, uint32_t count, uint32_t *length) {
  struct nvmi_heap *heap = pool->heap;
  if (heap->limbo_chunks >= LIMBO_MAX)
    reclaim(pool);
  uint32_t first = nvmi_runs_take(heap, count, length);
  if (first != NVMI_NO_RUN)
    return first;
  reclaim(pool);
  first = nvmi_runs_take(heap, count, length);
  if (first != NVMI_NO_RUN)
    return first;
  uint32_t before = heap->chunks;
  if (nvmi_heap_grow(pool, (uint64_t)count << NVM_CHUNK_SHIFT)) {
    pool->persist->fence(); /* what was reclaimed was too little: others may take it */
    return NVMI_NO_RUN;
  }
  heap->chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  nvmi_runs_add(heap, before, heap->chunks - before);
  return nvmi_runs_take(heap, count, length);
}

uint32_t nvmi_chunks_take(struct nvm_pool *pool, uint32_t count, bool *dirty) {
  struct nvmi_heap *heap = pool->heap;
  uint32_t length = 0, first = find(pool, count, &length);
  if (first == NVMI_NO_RUN)
    return first;
  uint32_t rest = first + count, end = first + length;
  if (rest < heap->used_end && rest < end) {
    uint32_t used = end < heap->used_end ? end : heap->used_end;
    nvmi_chunk_mark(pool, rest, NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, used - rest));
    pool->persist->fence();
  }
  *dirty = first < heap->used_end;
  if (heap->used_end < rest)
    heap->used_end = rest;
  /* A private view may still show what these chunks held in an earlier use. Where it is compared
   * with the file, it has to show the file. */
  if (*dirty && pool->method->private_work && nvmi_view_is_compared(pool))
    madvise(pool->work + nvmi_chunk_offset(pool, first), (uint64_t)count << NVM_CHUNK_SHIFT,
            MADV_DONTNEED);
  return first;
}

uint64_t nvmi_heap_own_run(struct nvm_pool *pool, enum nvm_chunk_kind kind, uint64_t chunks) {
  struct nvmi_heap *heap = pool->heap;
  bool dirty;
  nvmi_lock(&heap->lock);
  uint32_t first =
      nvmi_heap_build(pool) ? NVMI_NO_RUN : nvmi_chunks_take(pool, (uint32_t)chunks, &dirty);
  uint64_t offset = 0;
  if (first != NVMI_NO_RUN) {
    nvmi_chunk_mark(pool, first, NVM_CHUNK_ENTRY(kind, 0, 0, chunks));
    pool->persist->fence();
    offset = nvmi_chunk_offset(pool, first);
  }
  nvmi_unlock(&heap->lock);
  return offset;
}

struct reachable {
  struct nvm_pool *pool;
  struct nvmi_array chunks; /* uint32_t: first chunks of segments */
  bool incomplete;          /* out of memory */
};

static void note_segment(void *context, const struct nvm_segment *segment) {
  struct reachable *reachable = context;
  uint32_t chunk =
      (uint32_t)((segment->self - reachable->pool->header.heap_offset) >> NVM_CHUNK_SHIFT);
  if (!nvmi_array_push(&reachable->chunks, &chunk, sizeof chunk))
    reachable->incomplete = true;
}

static bool is_reachable(const struct reachable *reachable, uint32_t chunk) {
  const uint32_t *chunks = reachable->chunks.items;
  for (size_t i = 0; i < reachable->chunks.count; i++)
    if (chunks[i] == chunk)
      return true;
  return false;
}

/* A run that holds no blocks and that nothing leads to. */
static bool is_lost(const struct reachable *reachable, uint32_t chunk, uint64_t word) {
  const struct nvm_pool *pool = reachable->pool;
  if ((word & 0xff) == NVM_CHUNK_LOG)
    return !is_reachable(reachable, chunk);
  const struct nvmi_run_owner *owner = nvmi_owner_of_run(pool, word);
  return owner && !owner->parts_in(pool, nvmi_chunk_offset(pool, chunk),
                                   word >> 32 << NVM_CHUNK_SHIFT, false);
}

static void read_run(struct nvm_pool *pool, uint32_t chunk, uint64_t word, uint32_t count) {
  struct nvmi_heap *heap = pool->heap;
  uint32_t class = word >> 8 & 0xff;
  switch (word & 0xff) {
  case NVM_CHUNK_SMALL:
    nvmi_span_tell(heap, class, chunk, count);
    heap->unread[chunk] = heap->unread_first[class];
    heap->unread_first[class] = chunk + 1;
    break;
  case NVM_CHUNK_LARGE:
    nvmi_span_tell(heap, NVMI_CLASSES, chunk, count);
    break;
  case NVM_CHUNK_LOG:
    break;
  default:
    if (!nvmi_owner_of_run(pool, word))
      nvmi_runs_add(heap, chunk, count);
  }
}

/* A run of tables is as long as who keeps it needs it. */
static const char *owned_fault(const struct nvm_pool *pool, uint64_t word, uint32_t left) {
  const struct nvmi_run_owner *owner = nvmi_owner_of_run(pool, word);
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  uint64_t wanted = owner ? owner->chunks_at(pool, nvmi_chunk_offset(pool, chunks - left)) : 0;
  if (!owner && (word & 0xff) != NVM_CHUNK_FREE && (word & 0xff) != NVM_CHUNK_LOG)
    return "no such kind of run";
  return word >> 8 & 0xffffff             ? "a run without blocks has a class or a type"
         : wanted && word >> 32 != wanted ? "a run of tables is not as long as they are"
                                          : NULL;
}

const char *nvmi_chunk_fault(const struct nvm_pool *pool, uint64_t word, uint32_t left) {
  struct nvmi_span shape;
  uint64_t kind = word & 0xff, class = word >> 8 & 0xff, type = word >> 16 & 0xffff;
  uint64_t count = word ? word >> 32 : 1;
  if (!count || count > left)
    return "a run of so many chunks ends outside the heap";
  switch (kind) {
  case NVM_CHUNK_VIRGIN:
    return word ? "a chunk that was never used says more than that" : NULL;
  case NVM_CHUNK_LARGE:
    return class                              ? "a large block has a size class"
           : type && type >= pool->type_count ? "a large block has a type that is not in the table"
                                              : NULL;
  case NVM_CHUNK_SMALL:
    if (class >= NVMI_CLASSES || type > NVM_SPAN_STATICS >> 16)
      return "a span has no such size class, or a type";
    nvmi_span_shape(&shape, (uint32_t)class);
    return shape.chunks != count ? "a span is not as long as its size class says" : NULL;
  default:
    return owned_fault(pool, word, left);
  }
}

static void find_segments(struct nvm_pool *pool, struct reachable *reachable) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  for (unsigned slot = 0; slot < NVM_SLOTS_MAX && slots[slot].bank[0]; slot++)
    for (unsigned bank = 0; bank < 2; bank++)
      nvmi_each_segment(pool, slot, bank, note_segment, reachable);
}

static unsigned parts_in_runs(struct nvm_pool *pool, const struct nvmi_run_owner *owner) {
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  unsigned parts = 0;
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if ((word & 0xff) == owner->kind)
      parts += owner->parts_in(pool, nvmi_chunk_offset(pool, chunk),
                               (uint64_t)count << NVM_CHUNK_SHIFT, true);
  }
  return parts;
}

const char *nvmi_chunks_lack(const struct nvm_pool *pool) {
  for (const struct nvmi_run_owner *const *owner = pool->run_owners; *owner; owner++)
    if ((*owner)->parts &&
        (*owner)->parts(pool) > parts_in_runs((struct nvm_pool *)(uintptr_t)pool, *owner))
      return (*owner)->lack;
  return NULL;
}

/* One word for each run, before anything is believed. */
static int check_table(struct nvm_pool *pool, uint32_t chunks) {
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    const char *fault = nvmi_chunk_fault(pool, word, chunks - chunk);
    if (fault)
      return nvmi_fail(NVM_ECORRUPT, pool->path,
                       "the heap's table is damaged at chunk %u (%#llx: %s); " NVMI_REPAIR_HINT,
                       chunk, (unsigned long long)word, fault);
  }
  const char *lacks = nvmi_chunks_lack(pool);
  return lacks ? nvmi_fail(NVM_ECORRUPT, pool->path,
                           "the heap's table is damaged: %s; " NVMI_REPAIR_HINT, lacks)
               : 0;
}

/* Segments that a crash or a close left unlinked are freed, and records of types and
 * tables that never were.
 */
int nvmi_heap_build(struct nvm_pool *pool) {
  struct nvmi_heap *heap = pool->heap;
  if (heap->built)
    return 0;
  heap->chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  if (check_table(pool, heap->chunks))
    return -1;
  struct reachable reachable = {.pool = pool};
  find_segments(pool, &reachable);
  if (reachable.incomplete) {
    nvmi_array_free(&reachable.chunks, sizeof(uint32_t));
    return nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for the list of log segments");
  }
  uint32_t virgin = 0;
  for (uint32_t chunk = 0, count; chunk < heap->chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    count = word ? (uint32_t)(word >> 32) : 1;
    if (!word) {
      virgin++;
      continue;
    }
    if (virgin)
      nvmi_runs_add(heap, chunk - virgin, virgin);
    virgin = 0;
    if (is_lost(&reachable, chunk, word)) {
      word = NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, count);
      nvmi_chunk_mark(pool, chunk, word);
    }
    read_run(pool, chunk, word, count);
    heap->used_end = chunk + count;
  }
  if (virgin)
    nvmi_runs_add(heap, heap->chunks - virgin, virgin);
  nvmi_array_free(&reachable.chunks, sizeof(uint32_t));
  uint64_t unused = nvmi_chunk_offset(pool, heap->used_end);
  nvmi_map_virgin(pool, (unused + NVMI_HUGE_PAGE - 1) & ~(uint64_t)(NVMI_HUGE_PAGE - 1),
                  nvmi_file_size(&pool->header));
  heap->built = true; /* last: other threads look without the lock */
  return 0;
}

int nvmi_heap_build_now(struct nvm_pool *pool) {
  nvmi_lock(&pool->heap->lock);
  int damaged = nvmi_heap_build(pool);
  nvmi_unlock(&pool->heap->lock);
  return damaged;
}

void nvmi_heap_each_run(struct nvm_pool *pool, nvmi_visit_run *visit, void *context) {
  struct nvmi_heap *heap = pool->heap;
  nvmi_lock(&heap->lock);
  uint32_t end = nvmi_heap_build(pool) ? 0 : heap->used_end;
  for (uint32_t chunk = 0, count; chunk < end; chunk += count) {
    count = heap->runs.length[chunk];
    if (count)
      continue;
    /* A large block that no transaction committed yet is still a free run in the file. */
    count = (uint32_t)(*nvmi_chunk_word(pool, chunk) >> 32);
    count = count ? count : 1;
    visit(context, pool, chunk, count);
  }
  nvmi_unlock(&heap->lock);
}
