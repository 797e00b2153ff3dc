/* resize.h: the pool's file becomes longer, or shorter. */
#pragma once

#include "core/pool.h"

/* Makes the heap larger by `bytes` at least. For the holder of the heap's lock. A failure is
 * recorded. */
int nvmi_heap_grow(struct nvm_pool *pool, uint64_t bytes);
