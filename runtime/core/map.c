/* map.c: the reserved range (abi.h) and the mappings in it.
 *
 * The whole range is reserved without access at first use, so nothing else ever lies in it and the
 * compiled code's check is one shift and one comparison. A pool starts at a multiple of its range,
 * chosen at creation by its random id so that pools made apart seldom clash, and keeps that
 * address unless it is taken (relocate.h).
 */
#define _GNU_SOURCE
#include "core/map.h"
#include "base/uncancelled.h"

#include "base/own_files.h"
#include "core/regions.h"
#include "core/tracing.h"
#include "format/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_MAP];
_Atomic bool nvmi_range_is_reserved;
struct nvm_pool *_Atomic nvmi_pool_by_granule[NVMI_GRANULES];
struct nvm_pool *_Atomic nvmi_pools[NVMI_POOLS_MAX];

struct nvm_pool *nvmi_pool_number(unsigned index) {
  return atomic_load_explicit(&nvmi_pools[index], memory_order_acquire);
}

/* Linux before 5.14 does not know the call. */
void nvmi_map_own(char *start, uint64_t size) {
  enum { PAGE = 4096 };
  if (madvise(start, size, MADV_POPULATE_WRITE) == 0)
    return;
  for (uint64_t at = 0; at < size; at += PAGE)
    nvmi_store_same(start + at);
}

bool nvmi_pool_is_open(const struct nvm_pool *pool) {
  unsigned number = 0;
  while (number < NVMI_POOLS_MAX && nvmi_pool_number(number) != pool)
    number++;
  return number < NVMI_POOLS_MAX;
}

bool nvmi_pool_begins_closing(struct nvm_pool *pool) {
  nvmi_lock(lock);
  bool begins = nvmi_pool_is_open(pool) && !pool->closing;
  if (begins)
    pool->closing = true;
  nvmi_unlock(lock);
  return begins;
}

struct nvm_pool *nvmi_pool_in_use(unsigned index) {
  nvmi_lock(lock);
  struct nvm_pool *pool = nvmi_pool_number(index);
  if (pool && !pool->in_use)
    pool = NULL;
  nvmi_unlock(lock);
  return pool;
}

static int reserve(const char *path) {
  if (nvmi_range_is_reserved)
    return 0;
  void *want = (void *)NVM_RANGE_BASE;
  void *got = mmap(want, NVM_RANGE_SIZE, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != want) {
    if (got != MAP_FAILED)
      munmap(got, NVM_RANGE_SIZE);
    return nvmi_fail(NVM_EADDRESS, path,
                     "cannot reserve %llu GiB of addresses at %p (%s); is 'ulimit -v' set, or "
                     "something mapped there?",
                     (unsigned long long)(NVM_RANGE_SIZE >> 30), want, strerror(errno));
  }
  nvmi_range_is_reserved = true;
  return 0;
}

static bool is_free(uint64_t first, uint64_t count) {
  if (first + count > NVMI_GRANULES)
    return false;
  for (uint64_t i = first; i < first + count; i++)
    if (nvmi_pool_by_granule[i])
      return false;
  return true;
}

static bool is_open_to(const struct nvm_pool *pool, uint64_t place, uint64_t count) {
  return is_free(place, count) &&
         (!pool->header.base ||
          nvmi_base_allowed(&pool->header, NVM_RANGE_BASE + (place << NVMI_GRANULE_SHIFT)));
}

/* Places are multiples of the range (relocate.h). Granule, or -1. */
static int find_place(const struct nvm_pool *pool, uint64_t count, uint64_t wish) {
  uint64_t home = wish ? wish : nvmi_origin(&pool->header), first;
  if (home) {
    first = (home - NVM_RANGE_BASE) >> NVMI_GRANULE_SHIFT;
    if (is_open_to(pool, first, count))
      return (int)first;
    if (wish)
      return -1;
  }
  memcpy(&first, pool->header.id, sizeof first);
  for (uint64_t i = 0; i < NVMI_GRANULES / count; i++) {
    uint64_t place = (first + i) % (NVMI_GRANULES / count) * count;
    if (is_open_to(pool, place, count))
      return (int)place;
  }
  return -1;
}

static int claim_locked(struct nvm_pool *pool, uint64_t wish) {
  if (reserve(pool->path))
    return -1;
  unsigned number = 0;
  while (number < NVMI_POOLS_MAX && nvmi_pools[number])
    number++;
  if (number == NVMI_POOLS_MAX)
    return nvmi_fail(NVM_ELIMIT, pool->path, "%d pools are open, which is the most; close one",
                     NVMI_POOLS_MAX);
  uint64_t count = pool->header.range >> NVMI_GRANULE_SHIFT;
  int first = find_place(pool, count, wish);
  if (first < 0)
    return nvmi_fail(NVM_EADDRESS, pool->path,
                     "the %llu GiB of addresses that it needs%s are taken by other open pools; "
                     "close one",
                     (unsigned long long)count, wish ? " there" : "");
  pool->work = (char *)(NVM_RANGE_BASE + ((uint64_t)first << NVMI_GRANULE_SHIFT));
  pool->index = number;
  for (uint64_t i = 0; i < count; i++)
    nvmi_pool_by_granule[(uint64_t)first + i] = pool;
  nvmi_pools[number] = pool;
  return 0;
}

int nvmi_map_claim(struct nvm_pool *pool, uint64_t wish) {
  nvmi_lock(lock);
  int result = claim_locked(pool, wish);
  nvmi_unlock(lock);
  return result;
}

void nvmi_map_release(struct nvm_pool *pool) {
  nvmi_lock(lock);
  uint64_t first = ((uint64_t)(uintptr_t)pool->work - NVM_RANGE_BASE) >> NVMI_GRANULE_SHIFT;
  for (uint64_t i = 0; i < pool->header.range >> NVMI_GRANULE_SHIFT; i++)
    nvmi_pool_by_granule[first + i] = NULL;
  nvmi_pools[pool->index] = NULL;
  nvmi_unlock(lock);
}

static int told(const struct nvm_pool *pool, const void *mapped, uint64_t size) {
  if (mapped != MAP_FAILED)
    return 0;
  return nvmi_fail(NVM_ESYSTEM, pool->path,
                   "cannot map %llu bytes: %s; raise 'ulimit -v' or vm.max_map_count",
                   (unsigned long long)size, strerror(errno));
}

/* The file itself, which no child of fork must reach. */
static int map_file(const struct nvm_pool *pool, char *view, uint64_t offset, uint64_t size) {
  return told(pool,
              nvmi_own_map(view + offset, size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED | MAP_NORESERVE, pool->fd, (off_t)offset),
              size);
}

/* Instead of the file itself, in `home`: what is stored there does not reach the file. */
static int map_in_dram(const struct nvm_pool *pool, uint64_t offset, uint64_t size) {
  return told(pool,
              nvmi_own_map(pool->home + offset, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, pool->fd, (off_t)offset),
              size);
}

static bool is_same_file(int a, int b) {
  struct stat x, y;
  return a >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

/* The file by an opening of its own, without the pool's lock; -1: it cannot be had. */
static int open_again(const struct nvm_pool *pool) {
  char name[32];
  snprintf(name, sizeof name, "/proc/self/fd/%d", pool->fd);
  const char *const names[] = {name, pool->path}; /* there may be no /proc */
  for (unsigned i = 0; i < 2; i++) {
    int fd = nvmi_open(names[i], O_RDONLY | O_NONBLOCK, 0);
    if (is_same_file(fd, pool->fd))
      return fd;
    if (fd >= 0)
      NVMI_UNCANCELLED(close(fd));
  }
  return -1;
}

/* A private view, which a child of fork inherits as it is. Where the file cannot be opened again
 * the child holds the pool's lock. */
static int map_private(const struct nvm_pool *pool, uint64_t offset, uint64_t size) {
  int fd = open_again(pool);
  void *mapped =
      mmap(pool->work + offset, size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd >= 0 ? fd : pool->fd, (off_t)offset);
  int result = told(pool, mapped, size);
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  return result;
}

static int map_work(const struct nvm_pool *pool, uint64_t offset, uint64_t size,
                    bool private_work) {
  return private_work ? map_private(pool, offset, size) : map_file(pool, pool->work, offset, size);
}

/* A copy: one private mapping, which is home and view at once. */
static int map_copy(struct nvm_pool *pool) {
  pool->home = pool->work;
  return map_private(pool, 0, nvmi_file_size(&pool->header));
}

int nvmi_map_pool(struct nvm_pool *pool, bool private_work) {
  const struct nvm_header *header = &pool->header;
  if (pool->is_copy)
    return map_copy(pool);
  /* Huge pages of the file, as DAX has them, can be mapped as such. */
  pool->home = nvmi_reserve_aligned(header->range, PROT_NONE);
  if (!pool->home)
    return nvmi_fail(NVM_EADDRESS, pool->path, "cannot reserve addresses: %s", strerror(errno));
  return map_file(pool, pool->home, 0, nvmi_file_size(header)) ||
                 map_work(pool, NVM_ROOT_OFFSET, PAGE, private_work) ||
                 map_work(pool, header->heap_offset, header->heap_size, private_work)
             ? -1
             : 0;
}

int nvmi_map_growth(struct nvm_pool *pool, uint64_t old_size, bool private_work) {
  uint64_t offset = pool->header.heap_offset + old_size, size = pool->header.heap_size - old_size;
  int result = pool->file
                   ? map_file(pool, pool->file, offset, size) || map_in_dram(pool, offset, size)
                   : map_file(pool, pool->home, offset, size);
  if (result || map_work(pool, offset, size, private_work))
    return -1;
  return nvmi_regions_grow(pool, old_size);
}

int nvmi_map_delayed(struct nvm_pool *pool) {
  uint64_t size = nvmi_file_size(&pool->header);
  pool->file = nvmi_reserve_aligned(pool->header.range, PROT_NONE);
  if (!pool->file)
    return nvmi_fail(NVM_EADDRESS, pool->path, "cannot reserve addresses: %s", strerror(errno));
  return map_file(pool, pool->file, 0, size) || map_in_dram(pool, NVM_ROOT_OFFSET, PAGE) ||
                 map_in_dram(pool, NVM_CHUNKS_OFFSET, size - NVM_CHUNKS_OFFSET)
             ? -1
             : 0;
}

bool nvmi_map_inherit(struct nvm_pool *pool, bool inherited) {
  const struct nvm_header *header = &pool->header;
  int advice = inherited ? MADV_DOFORK : MADV_DONTFORK;
  if (pool->is_copy)
    return true; /* is private, and always inherited */
  if (madvise(pool->home, header->range, advice) ||
      (pool->file && madvise(pool->file, header->range, advice)))
    return false;
  return pool->method->private_work ||
         (madvise(pool->work + NVM_ROOT_OFFSET, PAGE, advice) == 0 &&
          madvise(pool->work + header->heap_offset, header->heap_size, advice) == 0);
}

/* Both read as zeros until they are written, and a child of fork has its own. Where view and file
 * are compared, or pages are given back to show the file again, it stays the file's. */
void nvmi_map_virgin(struct nvm_pool *pool, uint64_t start, uint64_t end) {
  if (!pool->work || !pool->method->private_work || pool->is_copy || nvmi_view_is_compared(pool) ||
      start >= end)
    return;
  char *at = pool->work + start;
  if (mmap(at, end - start, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED)
    madvise(at, end - start, MADV_HUGEPAGE);
  else if (map_private(pool, start, end - start))
    nvmi_die(NULL, "%s", nvm_strerror());
}

int nvmi_unmap_end(struct nvm_pool *pool, uint64_t old_size) {
  uint64_t offset = nvmi_file_size(&pool->header), size = old_size - pool->header.heap_size;
  char *const views[] = {pool->home, pool->work, pool->file};
  for (unsigned i = 0; i < 3; i++)
    if (views[i] &&
        mmap(views[i] + offset, size, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
      return -1;
  return 0;
}

void nvmi_unmap_pool(struct nvm_pool *pool) {
  if (pool->home && !pool->is_copy)
    munmap(pool->home, pool->header.range);
  if (pool->file && !pool->forked) /* a child of fork does not have it */
    munmap(pool->file, pool->header.range);
  pool->home = pool->file = NULL;
  nvmi_regions_free(pool);
  mmap(pool->work, pool->header.range, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
