/* handed.h: new values that open transactions have handed over, and that are not in place yet.
 *
 * With the method `lat` new values are aliases, which only their own thread sees. A thread that
 * releases a lock inside its transaction hands them over (method.h, `before_release`): whoever
 * acquires the lock has to see them. They stay here until that transaction has ended: with its commit
 * they are in place, with an abort they are gone. One table for all pools, by address.
 */
#pragma once

#include "base/basics.h"
#include "core/captured.h"
#include "core/pool.h"

#include <stdatomic.h>

extern _Atomic size_t nvmi_handed_count; /* lines in the table */

/* Whether a load has to look here. To be asked before the bytes in place are read: what has been
 * removed since is there. */
static inline bool nvmi_handed_some(void) {
  return NVMI_UNLIKELY(atomic_load_explicit(&nvmi_handed_count, memory_order_acquire) != 0);
}

/* Lines with their sequence, from item `first` of an array of struct nvmi_captured on. Those of private parts of a
 * view are stored in place there. Out of memory: fatal. */
void nvmi_handed_add(const struct nvmi_array *captured, size_t first);
/* Those of the array that are here. Their bytes are in place, or undone. */
void nvmi_handed_remove(const struct nvmi_array *captured);
/* The bytes at these addresses of those lines of the array that are here. They are a new block's. */
void nvmi_handed_drop(const struct nvmi_array *captured, uintptr_t start, uintptr_t end);

/* The part of the pool's view that has this file offset becomes private (regions.h); what is handed over of it is in
 * place there from then on, and no more here. */
void nvmi_handed_own(struct nvm_pool *pool, uint64_t offset);
/* The same where something is handed over of these addresses, in any pool. */
void nvmi_handed_settle(uintptr_t start, uintptr_t end);

/* The bytes at `from` as their newest transaction handed them over, else as they are in place. */
void nvmi_handed_read(void *to, const void *from, size_t size);
