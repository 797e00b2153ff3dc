/* regions.h: parts of the program's view that are private, though the view is the file (method `lat`).
 *
 * With `lat` nothing of an open transaction may be in the file, and code that is not compiled with
 * --nvmove-redirect looks for it in place. So where such code accesses bytes that the transaction has stored, a
 * region of the view becomes a private mapping of the file: there new values are in place, and a crash takes them
 * away, as with `shadow`. Region: 2 MiB of the file. It stays private until the pool is closed.
 *
 * A page of a private region shows the file until somebody stores to it. So what a commit stores in the file is
 * stored in the view as well, if the region is private. Who makes it private says so first, and then maps; who
 * commits stores first, and then asks: one of the two sees the other. Who is about to store in place what may not
 * be in the file asks whether it is ready: mapped, and what others have handed over is in place.
 */
#pragma once

#include "core/pool.h"

#define NVMI_REGION_SHIFT 21

enum nvmi_region { NVMI_REGION_FILE, NVMI_REGION_ANNOUNCED, NVMI_REGION_READY };

/* Of the byte at a file offset. */
static inline enum nvmi_region nvmi_region_of(const struct nvm_pool *pool, uint64_t offset) {
  const _Atomic uint8_t *all = atomic_load_explicit(&pool->regions, memory_order_acquire);
  if (NVMI_LIKELY(!all))
    return NVMI_REGION_FILE;
  return (enum nvmi_region)atomic_load(&all[offset >> NVMI_REGION_SHIFT]);
}

/* It is, or is about to be. */
static inline bool nvmi_region_is_private(const struct nvm_pool *pool, uint64_t offset) {
  return nvmi_region_of(pool, offset) != NVMI_REGION_FILE;
}

/* Whether a store to the view does not reach the file. */
static inline bool nvmi_view_is_private(const struct nvm_pool *pool, uint64_t offset) {
  return pool->method->private_work || nvmi_region_is_private(pool, offset);
}

/* Makes the region private: announced and mapped; false: it was. By handed.c alone, under its lock, which knows what others have handed over there. Fatal
 * if the kernel cannot map it. */
bool nvmi_region_make_private(struct nvm_pool *pool, uint64_t offset);
/* What others have handed over is in place there: threads may store in place. */
void nvmi_region_ready(struct nvm_pool *pool, uint64_t offset);
/* The heap has grown from `old_size`: what lies in private regions becomes private. 0, or -1: recorded. */
int nvmi_regions_grow(struct nvm_pool *pool, uint64_t old_size);
/* The pool is unmapped. */
void nvmi_regions_free(struct nvm_pool *pool);
