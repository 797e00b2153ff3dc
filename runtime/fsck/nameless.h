/* nameless.h: runs of chunks that have no blocks and that nothing names: once they may have had.
 *
 * A crash leaves such runs, which the heap's next build frees, so only pools are looked at that were
 * always closed. A run that begins as one of its kind does is right, whatever names it: closing a
 * pool leaves segments, and it is the names that may be damaged.
 */
#pragma once

#include "core/pool.h"

/* What is wrong with the run that begins there; null: nothing. */
const char *nvmi_nameless_fault(struct nvm_pool *pool, uint32_t chunk);
