/* recover_cut.h: where the records end of a pool whose commits did not wait (NVM_LOG_FORMAT_DELAYED).
 *
 * Each order number is that of a record, or of one that did not fit (NVM_FRAME_VOID), and a number is
 * given only when all below are in the page cache. A crash of the machine may leave any of those that no
 * sync has covered. The cut is the first number from the bound on that is missing: what lies below
 * counts, and what does not is as if it had never been (docs/internals/crash-consistency.md, D2).
 */
#pragma once

#include "core/pool.h"

/* A record that is whole: struct nvmi_numbered of nvmi_cut.numbers. */
struct nvmi_numbered {
  uint64_t order, transaction; /* in its log */
  unsigned slot;
};
struct nvmi_cut {
  struct nvmi_array numbers;
};

/* False: out of memory. */
bool nvmi_cut_add(struct nvmi_cut *cut, uint64_t order, unsigned slot, uint64_t transaction);
/* The first number that does not count; `bound`: all below are in place. Tells who counts references
 * which transactions have ended. */
uint64_t nvmi_cut_find(struct nvm_pool *pool, struct nvmi_cut *cut, uint64_t bound);
void nvmi_cut_free(struct nvmi_cut *cut);
