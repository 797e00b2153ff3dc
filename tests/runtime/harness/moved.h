/* moved.h: a pool with every kind of word that a move has to know, for tests of what happens to it
 * at other addresses. */
#pragma once

#include "harness.h"

#include "nvmove/abi.h"

/* Makes the structure as the pool's root: `nodes` of them, and what hangs from each. Committed. */
void moved_fill(NVM_POOL *pool, unsigned nodes);
/* All of it is as it was made, wherever the pool lies. */
void moved_verify(NVM_POOL *pool, unsigned nodes);
/* The same for a file, which is checked afterwards. `base`: 0 for its own. */
void moved_verify_file(const char *path, unsigned nodes, uint64_t base);

/* Adds a word to the structure that no move may guess about, committed: see the cases. */
enum moved_obstacle {
  MOVED_UNION,       /* pointer or number, holding a pointer */
  MOVED_UNION_SMALL, /* the same, holding a small number: no obstacle */
  MOVED_UNTYPED,     /* a block without type that holds a pointer, not aligned */
  MOVED_PLAIN,       /* one that holds text: no obstacle */
  MOVED_HASH,        /* made of addresses */
  MOVED_UNALIGNED    /* a pointer in a packed record */
};
void moved_obstruct(NVM_POOL *pool, enum moved_obstacle what);

/* The n-th place of a small pool in the reserved range. */
static inline uint64_t moved_base(unsigned n) { return NVM_RANGE_BASE + ((uint64_t)n << 30); }
