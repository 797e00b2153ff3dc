/* map.h: where pools live: the reserved range, a pool's two mappings, its place in the table of
 * pools. */
#pragma once

#include "core/pool.h"
#include "nvmove/abi.h"

/* Who has which part of the reserved range: one look finds the pool of an address. */
#define NVMI_GRANULE_SHIFT 30 /* of 1 GiB */
#define NVMI_GRANULES (NVM_RANGE_SIZE >> NVMI_GRANULE_SHIFT)
extern struct nvm_pool *_Atomic nvmi_pool_by_granule[NVMI_GRANULES];
static inline struct nvm_pool *nvmi_pool_at(const void *address) {
  uint64_t granule = ((uint64_t)(uintptr_t)address - NVM_RANGE_BASE) >> NVMI_GRANULE_SHIFT;
  return granule < NVMI_GRANULES
             ? atomic_load_explicit(&nvmi_pool_by_granule[granule], memory_order_acquire)
             : NULL;
}
/* All open pools, by their numbers; null: none. */
extern struct nvm_pool *_Atomic nvmi_pools[];
/* The open pool with this number; null: none. */
struct nvm_pool *nvmi_pool_number(unsigned index);

/* Nothing but pools lies in the range from now on. Until then a process that has mapped more than
 * the range is long may have anything there. */
extern _Atomic bool nvmi_range_is_reserved;

/* Gives `pool` addresses (`work`): where its pointers hold when that is free and `wish` is 0, else
 * at `wish`, else somewhere. Reserves the range at first use. 0, or -1: recorded. */
int nvmi_map_claim(struct nvm_pool *pool, uint64_t wish);
void nvmi_map_release(struct nvm_pool *pool);

/* Maps the file: home whole, work what the program may see. */
int nvmi_map_pool(struct nvm_pool *pool, bool private_work);
/* The heap has grown from `old_size` to header.heap_size. */
int nvmi_map_growth(struct nvm_pool *pool, uint64_t old_size, bool private_work);
/* `home` becomes private, and `file` the page cache (platform/delayed.h). Nobody else uses the pool, and
 * all of it is durable. */
int nvmi_map_delayed(struct nvm_pool *pool);
/* Bytes [start, end) of the file were never used, and nobody was shown them: a private view of them
 * becomes huge pages of DRAM, of which the processor remembers more than of the file's. */
void nvmi_map_virgin(struct nvm_pool *pool, uint64_t start, uint64_t end);
/* The heap has become smaller: what lies behind it is nobody's any more. */
int nvmi_unmap_end(struct nvm_pool *pool, uint64_t old_size);
void nvmi_unmap_pool(struct nvm_pool *pool);

/* Pages of a private view, as others store to them: each gets its private copy now. */
void nvmi_map_own(char *start, uint64_t size);

/* Whether it is one of those that are open: it may be no pool at all, or closed, and is not looked
 * at. */
bool nvmi_pool_is_open(const struct nvm_pool *pool);
/* The caller closes it from now on: false: it is not open, or another thread closes it. */
bool nvmi_pool_begins_closing(struct nvm_pool *pool);
/* Null as well where it is being opened or closed. It stays in use while the caller has
 * NVMI_LOCK_LEAVING. */
struct nvm_pool *nvmi_pool_in_use(unsigned index);

/* Whether a child of fork has the file's mappings, too: at first it has not. False: the kernel
 * cannot. */
bool nvmi_map_inherit(struct nvm_pool *pool, bool inherited);

/* Offset behind the last byte of the heap: the length of the file. */
static inline uint64_t nvmi_file_size(const struct nvm_header *header) {
  return header->heap_offset + header->heap_size;
}
