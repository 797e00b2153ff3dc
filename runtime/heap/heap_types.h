/* heap_types.h: what the heap's own files share; the nouns are in heap.h. */
#pragma once

#include "heap/heap.h"
#include "log/log.h"

#define NVMI_BLOCK_MAX (64u << 10)
#define NVMI_NO_RUN UINT32_MAX

/* A span, or a large block as a span of one. Of many spans hardly anything is in the cache: a free
 * looks at `live` alone, which is small; an allocation at `words`, too. */
struct nvmi_span {
  uint32_t chunk, chunks;      /* the run */
  uint32_t blocks, block_size; /* bytes */
  uint32_t first;              /* byte offset of block 0 in the run */
  uint32_t class;              /* NVMI_CLASSES: a large block */
  _Atomic uint64_t *free;      /* bits of the blocks: may be claimed */
  uint16_t *words;             /* as in the file, but with what open transactions allocated */
  uint32_t hint;               /* word of `free` where the last search ended */
  _Atomic uint32_t free_count;
  _Atomic uint64_t freed_order; /* of the last free that committed */
  struct nvmi_span *next;
  bool listed;          /* in the list of spans with free blocks; holder of the heap's lock */
  _Atomic bool owned;   /* some log allocates from it */
  _Atomic bool statics; /* marked: NVM_SPAN_STATICS */
  _Alignas(64) _Atomic uint64_t live[]; /* bits: allocated, not freed */
};

/* What all spans of a class have in common. */
struct nvmi_geometry {
  uint32_t first, blocks, block_size, chunks;
  uint32_t words;   /* where a span has them, bytes from its start on */
  uint64_t inverse; /* the first whole number above 2^40 / block_size */
};

static inline uint64_t nvmi_block_size(const struct nvmi_span *span) {
  return span->class < NVMI_CLASSES ? span->block_size : (uint64_t)span->chunks << NVM_CHUNK_SHIFT;
}

/* Free runs, in DRAM: lists by size, neighbours joined by tags at both ends of a run. */
struct nvmi_runs {
  uint32_t *length;      /* at the first and the last chunk of a free run, else 0 */
  uint32_t *next, *prev; /* of runs of like size, + 1; 0 ends */
  uint32_t first[32];    /* by the length's highest bit, + 1 */
};

/* Of each chunk of a span or a large block. */
struct nvmi_chunk {
  struct nvmi_span *_Atomic span; /* null: its table was not read yet */
  uint32_t head;                  /* the run's first chunk, + 1; 0: none of these */
  uint8_t class;                  /* NVMI_CLASSES: large */
};

struct nvmi_slab {
  char *start;
  size_t size;
};

struct nvmi_heap {
  struct nvmi_mutex lock;
  _Atomic bool built;
  uint32_t chunks;   /* of the heap today */
  uint32_t used_end; /* chunks from here on were never used: their bytes are zero */
  struct nvmi_chunk *chunk;
  struct nvmi_geometry geometry[NVMI_CLASSES + 1]; /* the last: of large blocks */
  uint32_t *unread; /* chain of spans whose tables nobody read yet, + 1 */
  uint32_t unread_first[NVMI_CLASSES];
  struct nvmi_span *partial[NVMI_CLASSES];
  struct nvmi_span *spare[NVMI_CLASSES + 1]; /* DRAM of dropped spans */
  struct nvmi_span *limbo; /* freed large blocks whose records may still be replayed */
  uint32_t limbo_chunks;
  struct nvmi_runs runs;
  struct nvmi_array slabs; /* struct nvmi_slab: DRAM that spans are cut from */
  size_t slab_used;
  uint32_t chunks_max;
};

/* The block at so many bytes from a span's first, and what is left. The product is exact for blocks
 * of 2^16 bytes in runs of 2^19. */
static inline uint32_t nvmi_geometry_find(const struct nvmi_geometry *geometry, uint64_t bytes,
                                          uint64_t *inside) {
  uint32_t index = (uint32_t)(bytes * geometry->inverse >> 40);
  *inside = bytes - (uint64_t)index * geometry->block_size;
  return index;
}

static inline char *nvmi_block_address(const struct nvm_pool *pool, const struct nvmi_span *span,
                                       uint32_t index) {
  return pool->work + nvmi_chunk_offset(pool, span->chunk) + span->first +
         (size_t)index * span->block_size;
}

/* Of a span, of which other logs may free blocks; `solo`: no other changes bits (nvmi_solo_enter).
 */
static inline void nvmi_set_bit(_Atomic uint64_t *bits, uint32_t index, bool solo) {
  if (solo)
    *(uint64_t *)&bits[index / 64] |= UINT64_C(1) << (index % 64);
  else
    atomic_fetch_or_explicit(&bits[index / 64], UINT64_C(1) << (index % 64), memory_order_release);
}

/* Whether the bit was set. */
static inline bool nvmi_clear_bit(_Atomic uint64_t *bits, uint32_t index, bool solo) {
  uint64_t bit = UINT64_C(1) << (index % 64), *word = (uint64_t *)&bits[index / 64], before = *word;
  if (solo) {
    *word = before & ~bit;
    return before & bit;
  }
  return atomic_fetch_and_explicit(&bits[index / 64], ~bit, memory_order_acquire) & bit;
}

/* Where a span has a block's word: 1 + its type. */
static inline uint16_t *nvmi_type_word(const struct nvmi_geometry *shape,
                                       const struct nvmi_span *span, uint32_t index) {
  return (uint16_t *)((char *)span + shape->words) + index;
}

static inline bool nvmi_is_live(const struct nvmi_span *span, uint32_t index) {
  return atomic_load_explicit(&span->live[index / 64], memory_order_relaxed) >> index % 64 & 1;
}

/* Gives the count before. */
static inline uint32_t nvmi_add_free(struct nvmi_span *span, uint32_t change, bool solo) {
  if (!solo)
    return atomic_fetch_add(&span->free_count, change);
  uint32_t before = atomic_load_explicit(&span->free_count, memory_order_relaxed);
  atomic_store_explicit(&span->free_count, before + change, memory_order_relaxed);
  return before;
}
