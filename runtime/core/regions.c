/* regions.c: see regions.h. */
#define _GNU_SOURCE
#include "core/regions.h"

#include "base/own_files.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
#define REGION (UINT64_C(1) << NVMI_REGION_SHIFT)

static uint64_t count(const struct nvm_pool *pool) {
  return pool->header.range >> NVMI_REGION_SHIFT;
}

/* The bytes [start, end) of the file, as far as the program may see them. */
static int map_part(const struct nvm_pool *pool, uint64_t start, uint64_t end, uint64_t from,
                    uint64_t to) {
  start = start > from ? start : from;
  end = end < to ? end : to;
  if (start >= end)
    return 0;
  void *mapped = nvmi_own_map(pool->work + start, end - start, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, pool->fd, (off_t)start);
  if (mapped != MAP_FAILED)
    return 0;
  return nvmi_fail(NVM_ESYSTEM, pool->path,
                   "cannot map a private part of the pool: %s; raise 'ulimit -v' or "
                   "vm.max_map_count, or open the pool with NVMOVE_METHOD=shadow",
                   strerror(errno));
}

static int map(const struct nvm_pool *pool, uint64_t start, uint64_t end) {
  const struct nvm_header *header = &pool->header;
  return map_part(pool, start, end, NVM_ROOT_OFFSET, NVM_ROOT_OFFSET + PAGE) ||
                 map_part(pool, start, end, header->heap_offset,
                          header->heap_offset + header->heap_size)
             ? -1
             : 0;
}

bool nvmi_region_make_private(struct nvm_pool *pool, uint64_t offset) {
  _Atomic uint8_t *all = atomic_load(&pool->regions);
  if (!all) {
    all = nvmi_dram_reserve(count(pool));
    if (!all)
      nvmi_fatal(NVM_ENOMEMORY, pool->path, "out of memory for private parts of the pool");
    atomic_store(&pool->regions, all);
  }
  uint64_t number = offset >> NVMI_REGION_SHIFT;
  if (atomic_load(&all[number]))
    return false;
  atomic_store(&all[number], NVMI_REGION_ANNOUNCED);
  if (map(pool, number * REGION, (number + 1) * REGION))
    nvmi_fatal_recorded(pool->path, "no private part of the pool");
  return true;
}

void nvmi_region_ready(struct nvm_pool *pool, uint64_t offset) {
  atomic_store(&pool->regions[offset >> NVMI_REGION_SHIFT], NVMI_REGION_READY);
}

int nvmi_regions_grow(struct nvm_pool *pool, uint64_t old_size) {
  const _Atomic uint8_t *all = atomic_load(&pool->regions);
  uint64_t start = pool->header.heap_offset + old_size;
  uint64_t end = pool->header.heap_offset + pool->header.heap_size;
  for (uint64_t next; all && start < end; start = next) {
    uint64_t number = start >> NVMI_REGION_SHIFT;
    next = (number + 1) * REGION < end ? (number + 1) * REGION : end;
    if (atomic_load(&all[number]) && map(pool, start, next))
      return -1;
  }
  return 0;
}

void nvmi_regions_free(struct nvm_pool *pool) {
  _Atomic uint8_t *all = atomic_exchange(&pool->regions, NULL);
  if (all)
    munmap(all, count(pool));
}
