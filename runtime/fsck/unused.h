/* unused.h: chunks whose word says that they were never used, and whose bytes are not zero.
 *
 * Who is given such a chunk takes its bytes for zero. Asked in the order of their places, chunks
 * that are holes of the file cost nothing.
 */
#pragma once

#include "core/pool.h"

struct nvmi_unused {
  const struct nvm_pool *pool;
  /* The stretch of the file that was found last. Before it are holes, from the chunk that was asked for then. */
  uint64_t data, end;
};

/* Whether a byte of a chunk is not zero. */
bool nvmi_unused_is_dirty(struct nvmi_unused *unused, uint32_t chunk);
