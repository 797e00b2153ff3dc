/* kept_blocks.h: blocks of an aborted transaction that others still have the addresses of.
 *
 * Who took over its lock may have read the address of a block that it allocated, and writes there,
 * or frees it, until its own transaction is undone. So the blocks are nobody else's before all of those have
 * ended. Nothing of it is in the file: there the blocks are free, as they never were allocated.
 */
#pragma once

#include "core/thread.h"

/* Under order.c's mutex: those that the log's transaction allocated leave it. `nodes`: struct
 * nvmi_node *, whose transactions have to end before. */
void nvmi_blocks_keep(struct nvmi_log *log, const struct nvmi_array *nodes);
/* A transaction of the thread has ended: the blocks that waited for it alone are free. */
void nvmi_blocks_give_back(struct nvmi_thread *thread);
/* The pool is closed: none of its blocks waits for anybody any more. Gives how many did. */
uint64_t nvmi_blocks_closing(const struct nvm_pool *pool);
#ifndef NDEBUG
/* Calls `refer` for each reference from here; what does not hold (base/invariant.h). */
void nvmi_blocks_list_references(void (*refer)(struct nvmi_node *));
const char *nvmi_blocks_fault(void);
#endif
/* In a forked child, which has no pool. */
void nvmi_blocks_forget(void);
