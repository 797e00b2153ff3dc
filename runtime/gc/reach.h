/* reach.h: which blocks of a pool can be reached from its root.
 *
 * Reachable: the block that the root leads to, or into; and each that a word of a reachable block
 * leads to, or into. (Not: just behind. There another block begins, and that is what is meant, or
 * every pointer would keep two.) A word of a
 * described type leads where its field says: pointers, weak ones too (nothing may dangle), tagged
 * ones, words that are pointers when they lie in the pool. What nobody decides is taken for a
 * pointer: words of unions, and in a block without type every eight bytes at any place. Numbers are
 * none. A word that is the exclusive or of two pointers cannot be followed: with one there is no
 * answer.
 *
 * Nobody may write meanwhile. Several threads: each has a stack of what it found and did not look
 * into; who has none takes from those that have more than enough.
 */
#pragma once

#include "core/pool.h"
#include "types/block_map.h"
#include "types/words.h"

struct nvmi_reach {
  struct nvm_pool *pool;
  struct nvmi_block_map map;
  _Atomic uint64_t *marks; /* a bit for every 16 bytes of the heap, set where a block starts */
  size_t marks_size;      /* bytes, of the heap as it was: it may grow before they are given back */
  uint64_t blocks, bytes; /* reached */
};

/* Finds all. -1: recorded; nothing is left to free. */
int nvmi_reach(struct nvmi_reach *reach, struct nvm_pool *pool);
void nvmi_reach_free(struct nvmi_reach *reach);

/* Whether the block that starts at this file offset was reached. */
static inline bool nvmi_is_reached(const struct nvmi_reach *reach, uint64_t offset) {
  uint64_t granule = (offset - reach->pool->header.heap_offset) >> 4;
  return atomic_load_explicit(&reach->marks[granule / 64], memory_order_relaxed) >> granule % 64 &
         1;
}
