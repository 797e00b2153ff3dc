/* repair_cut.c: a file that ends too early: what the missing bytes held nobody knows, and nothing of it
 * is given up unasked. */
#define _GNU_SOURCE
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCKS = 200, SIZE = 5000 };

static void make(const char *path) {
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void **all = nvm_calloc(pool, 0, BLOCKS, sizeof *all);
  for (int i = 0; i < BLOCKS; i++)
    STORE(all[i], nvm_calloc(pool, 0, 1, SIZE));
  CHECK(nvm_pool_set_root(pool, all) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static off_t size_of(const char *path) {
  struct stat status;
  CHECK(stat(path, &status) == 0);
  return status.st_size;
}

static void listen(void *heard, enum nvm_repair_news news, const char *line) {
  if (news == NVM_REPAIR_LEFT && !*(char *)heard)
    snprintf(heard, 512, "%s", line);
}

/* Within the tables before the heap, within those words of it that count, within blocks. */
TEST_ONCE(repair_of_a_file_cut_short) {
  const char *path = test_path("pool");
  static const off_t ends[] = {NVM_STATICS_OFFSET,      NVM_ROOT_OFFSET,
                               NVM_SLOTS_OFFSET + 100,  NVM_TYPES_OFFSET + 8,
                               NVM_CHUNKS_OFFSET,       NVM_CHUNKS_OFFSET + 12,
                               NVM_CHUNKS_OFFSET + 400, NVM_CHUNKS_OFFSET + 70000};
  for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
    char heard[512] = "";
    struct nvm_repair how = {.report = listen, .context = heard};
    make(path);
    CHECK(truncate(path, ends[i]) == 0);
    long long left = nvm_pool_repair(path, &how);
    if (left < 1 || *how.copy || size_of(path) != ends[i] || !strstr(heard, "--null-dangling"))
      test_fail("cut", (int)ends[i], *heard ? heard : "it was made long again");
    unlink(path);
  }
}

/* A word that makes no sense hides what lies behind it. */
TEST_ONCE(repair_of_a_file_cut_short_and_damaged) {
  const char *path = test_path("pool");
  char heard[512] = "";
  struct nvm_repair how = {.report = listen, .context = heard};
  make(path);
  off_t whole = size_of(path), end = whole - (4 << 20) + (900 << 10);
  uint64_t word = 0x77;
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pwrite(fd, &word, 8, NVM_CHUNKS_OFFSET) == 8 && ftruncate(fd, end) == 0);
  close(fd);
  CHECK(nvm_pool_repair(path, &how) >= 1 && strstr(heard, "--null-dangling"));
  CHECK(!*how.copy && size_of(path) == end);
}

/* What is free at the end is no loss, and what was asked for is done. */
TEST_ONCE(repair_of_a_free_end_cut_off) {
  const char *path = test_path("pool");
  struct nvm_repair how = {0};
  make(path);
  off_t whole = size_of(path);
  CHECK(truncate(path, whole - (1 << 20)) == 0);
  CHECK(nvm_pool_repair(path, &how) == 0 && size_of(path) == whole);
  NVM_POOL *pool = test_open(path);
  void **all = nvm_pool_root(pool);
  CHECK(all && all[BLOCKS - 1] && nvm_pool_close(pool) == 0);
  how.null_dangling = true;
  CHECK(truncate(path, NVM_CHUNKS_OFFSET + 400) == 0);
  CHECK(nvm_pool_repair(path, &how) >= 0 && size_of(path) == whole);
}
