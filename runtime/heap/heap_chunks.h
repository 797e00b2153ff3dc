/* heap_chunks.h: runs in the file. Holder of the heap's lock, but for nvmi_heap_build_now and nvmi_heap_ready. */
#pragma once

#include "heap/heap_types.h"

/* A run of `count` chunks; `*dirty`: its bytes may not be zero. NVMI_NO_RUN: recorded. */
uint32_t nvmi_chunks_take(struct nvm_pool *pool, uint32_t count, bool *dirty);
void nvmi_chunk_mark(struct nvm_pool *pool, uint32_t chunk, uint64_t word);
/* What is wrong with the word of a run that starts `left` chunks before the heap's end; null:
 * nothing. */
const char *nvmi_chunk_fault(const struct nvm_pool *pool, uint64_t word, uint32_t left);
/* The same of a table whose words are right: what lies in runs that are not marked as its own,
 * where blocks would be allocated over it; null: nothing. */
const char *nvmi_chunks_lack(const struct nvm_pool *pool);
/* Where the floor is, numbers begin. -1: it is damaged, recorded. */
int nvmi_floor_load(struct nvm_pool *pool);
/* Reads the chunk table if nobody did. -1: it is damaged, recorded. */
int nvmi_heap_build(struct nvm_pool *pool);
/* The same for who does not hold the lock. */
int nvmi_heap_build_now(struct nvm_pool *pool);
static inline int nvmi_heap_ready(struct nvm_pool *pool) {
  return NVMI_LIKELY(pool->heap->built) ? 0 : nvmi_heap_build_now(pool);
}
