/* huge.c: the pages of a pool's file in DRAM are huge where the kernel makes them so, from its
 * creation on and where it has grown, but not for any price; and a file that cannot grow keeps its
 * length.
 */
#define _GNU_SOURCE
#include "core/map.h"
#include "harness.h"
#include "platform/disk.h"
#include "store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20, POOL = 16 * MIB, BLOCK = 6 * MIB, PAGE = 4096 };

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Whether this kernel makes a huge page of a file's small ones. */
static bool kernel_makes_huge_pages(void) {
  int fd = open(test_path("probe"), O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0 && ftruncate(fd, (off_t)NVMI_HUGE_PAGE) == 0);
  char *at = nvmi_reserve_aligned(NVMI_HUGE_PAGE, PROT_NONE);
  CHECK(at &&
        mmap(at, NVMI_HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at);
  at[0] = 1;
  bool makes = madvise(at, NVMI_HUGE_PAGE, MADV_COLLAPSE) == 0;
  CHECK(munmap(at, NVMI_HUGE_PAGE) == 0 && close(fd) == 0);
  return makes;
}

/* Bytes of the file that are mapped by huge pages. */
static uint64_t huge_bytes(const struct nvm_pool *pool) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  CHECK(maps != NULL);
  char line[512];
  const struct nvm_header *h = &pool->header;
  uint64_t kib = 0, start, end, one, home = (uint64_t)(uintptr_t)pool->home;
  bool is_file = false;
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      is_file = (start >= home && end <= home + h->range) ||
                (start >= h->base && end <= h->base + h->range);
    else if (is_file && sscanf(line, "ShmemPmdMapped: %lu kB", &one) == 1)
      kib += one;
  }
  fclose(maps);
  return kib << 10;
}

static void add_block(NVM_POOL *pool) {
  CHECK(nvm_tx_begin(pool) == 0);
  char *block = nvm_alloc(pool, 0, BLOCK);
  CHECK(block != NULL);
  for (unsigned at = 0; at < BLOCK; at += PAGE) {
    note_store(block + at, 1);
    block[at] = 1;
  }
  CHECK(nvm_tx_commit(pool) == 0);
}

TEST(pages_of_a_file_in_dram_are_huge) {
  if (!kernel_makes_huge_pages())
    test_skip("this kernel makes no huge pages of a file in DRAM");
  if (test_is_delayed())
    test_skip("the file is not what is mapped");
  nvmi_huge_page_ns = UINT64_MAX >> 16; /* whatever else the machine does */
  NVM_POOL *pool = test_create(test_path("pool"), POOL);
  add_block(pool);
  CHECK(huge_bytes(pool) >= BLOCK - 2 * NVMI_HUGE_PAGE);
  for (unsigned i = 1; i < 12; i++)
    add_block(pool);
  CHECK(pool->header.heap_size > 4 * POOL && huge_bytes(pool) >= 12 * (uint64_t)BLOCK * 3 / 4);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  add_block(pool);
  CHECK(huge_bytes(pool) >= BLOCK - 2 * NVMI_HUGE_PAGE && nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

TEST(pages_are_small_when_huge_ones_cost_too_much) {
  nvmi_huge_page_ns = 0;
  NVM_POOL *pool = test_create(test_path("pool"), POOL);
  unsigned grown = 0;
  for (unsigned i = 0; i < 12; i++) {
    uint64_t before = pool->header.heap_size;
    add_block(pool);
    grown += pool->header.heap_size != before;
  }
  CHECK(grown > 2 && huge_bytes(pool) <= (1 + grown) * NVMI_HUGE_PAGE); /* each tries one at most */
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

TEST_ONCE(a_file_that_cannot_grow_keeps_its_length) {
  test_small_disk(20 << 10);
  NVM_POOL *pool = test_create(test_path("disk/pool"), POOL);
  struct stat before, after;
  CHECK(fstat(pool->fd, &before) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK_FAILS(nvm_alloc(pool, 0, 2 * POOL) != NULL, NVM_ENOSPACE);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(fstat(pool->fd, &after) == 0 && after.st_size == before.st_size &&
        after.st_blocks == before.st_blocks);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("disk/pool"));
}
