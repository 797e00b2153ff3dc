/* backup_reads.c: what a backup cannot read is not in the copy, and then there is none; who may not
 * read the pool may not read the copy. */
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include "nvmove/backup.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCKS = 100, SIZE = 8000, PAGE = 4096 };

static NVM_POOL *filled(const char *path) {
  char bytes[SIZE];
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  char **all = nvm_calloc(pool, 0, BLOCKS, sizeof *all);
  memset(bytes, 'p', sizeof bytes);
  for (int i = 0; i < BLOCKS; i++) {
    char *block = nvm_alloc(pool, 0, SIZE);
    CHECK(block);
    store_bytes(block, bytes, SIZE);
    STORE(all[i], block);
  }
  CHECK(nvm_pool_set_root(pool, all) == 0 && nvm_tx_commit(pool) == 0);
  return pool;
}

static void verify(const char *path) {
  NVM_POOL *pool = test_open(path);
  char **all = nvm_pool_root(pool);
  for (int i = 0; i < BLOCKS; i++)
    CHECK(*all[i] == 'p' && memcmp(all[i], all[i] + 1, SIZE - 1) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* In the middle of what is read at once, and at its start; what lies before such a page is given. */
static void fails(NVM_POOL *pool, const char *path, const char *copy, long long page) {
  fault_bad_page = page;
  if (pool)
    CHECK_FAILS(nvm_pool_backup(pool, copy, NULL) == 0, NVM_ESYSTEM);
  else
    CHECK_FAILS(nvm_pool_backup_file(path, copy, NULL) == 0, NVM_ESYSTEM);
  fault_bad_page = 0;
  CHECK(strstr(nvm_strerror(), path) && strstr(nvm_strerror(), "cannot be read"));
  CHECK(access(copy, F_OK) != 0);
}

TEST_ONCE(backup_of_a_page_that_cannot_be_read) {
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  NVM_POOL *pool = filled(path);
  for (long long page = 129 * PAGE; page < 260 * PAGE; page += 21 * PAGE)
    fails(pool, path, copy, page);
  CHECK(nvm_pool_close(pool) == 0);
  for (long long page = 128 * PAGE; page < 260 * PAGE; page += 32 * PAGE)
    fails(NULL, path, copy, page);
}

TEST_ONCE(backup_by_reads_of_parts) {
  char path[200], copy[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  NVM_POOL *pool = filled(path);
  fault_reads_in_part = true;
  CHECK(nvm_pool_backup(pool, copy, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  verify(copy);
  unlink(copy);
  CHECK(nvm_pool_backup_file(path, copy, NULL) == 0);
  verify(copy);
}

TEST_ONCE(backup_is_as_readable_as_the_pool) {
  char path[200], copy[200];
  struct stat status;
  static const mode_t modes[] = {0600, 0640, 0644, 0666};
  snprintf(path, sizeof path, "%s", test_path("pool"));
  snprintf(copy, sizeof copy, "%s", test_path("copy"));
  umask(027);
  CHECK(nvm_pool_close(filled(path)) == 0);
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
    CHECK(chmod(path, modes[i]) == 0 && nvm_pool_backup_file(path, copy, NULL) == 0);
    CHECK(stat(copy, &status) == 0 && (status.st_mode & 0777) == modes[i]);
    unlink(copy);
  }
  if (geteuid() == 0) {
    CHECK(chown(path, 12345, 12346) == 0 && nvm_pool_backup_file(path, copy, NULL) == 0);
    CHECK(stat(copy, &status) == 0 && status.st_uid == 12345 && status.st_gid == 12346);
  }
}
