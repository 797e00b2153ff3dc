/* readonly.c: files, folders and file systems that may not be written: NVM_EREADONLY, and not a
 * byte changes. What only looks may look.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* The superuser may write anywhere: this process becomes another's. */
static void lose_rights(void) {
  if (geteuid() == 0 && (setegid(NOBODY) || seteuid(NOBODY)))
    test_skip("needs another user than the superuser to become");
}

static void check_refused(const char *path, const char *cause) {
  CHECK_FAILS(nvm_pool_open(path), NVM_EREADONLY);
  CHECK(strncmp(nvm_strerror(), path, strlen(path)) == 0 && strstr(nvm_strerror(), cause));
}

static void check_not_created(const char *path, const char *cause) {
  CHECK_FAILS(nvm_pool_create(path, 1 << 20), NVM_EREADONLY);
  CHECK(strncmp(nvm_strerror(), path, strlen(path)) == 0 && strstr(nvm_strerror(), cause));
  CHECK(access(path, F_OK) != 0 && errno == ENOENT);
}

static uint64_t sum_of(const char *path) {
  uint64_t sum = 0;
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  for (int byte; (byte = getc_unlocked(file)) != EOF;)
    sum = sum * 31 + (unsigned)byte;
  fclose(file);
  return sum;
}

/* A copy in memory of a pool that cannot be written. */
static void look_at_copy(void *path) {
  setenv("NVMOVE_OPEN", "copy", 1);
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_root(pool) && nvm_pool_close(pool) == 0);
}

TEST(read_only_file) {
  const char *path = test_path("pool");
  workload_run(path, progress_new(), 5);
  uint64_t before = sum_of(path);
  CHECK(chmod(path, 0444) == 0);
  check_refused(path, geteuid() ? "Permission denied" : "nobody may write the file");
  test_check_pool(path);
  CHECK(test_child(NULL, look_at_copy, (void *)(uintptr_t)path) == 0);
  CHECK(sum_of(path) == before);
  CHECK(chmod(path, 0644) == 0);
  workload_run(path, progress_new(), 6);
}

TEST(read_only_mount) {
  test_small_disk(3000);
  const char *path = test_path("disk/pool"), *other = test_path("disk/other");
  workload_run(path, progress_new(), 5);
  uint64_t before = sum_of(path);
  CHECK(mount(NULL, test_path("disk"), NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
  check_refused(path, "Read-only file system");
  CHECK(strstr(nvm_strerror(), "; mount its file system for writing"));
  check_not_created(other, "Read-only file system");
  test_check_pool(path);
  CHECK(test_child(NULL, look_at_copy, (void *)(uintptr_t)path) == 0);
  CHECK(mount(NULL, test_path("disk"), NULL, MS_REMOUNT, NULL) == 0);
  CHECK(sum_of(path) == before);
  workload_run(path, progress_new(), 6);
}

static void use_without_rights(void *unused) {
  (void)unused;
  lose_rights();
  check_refused(test_path("folder/pool"), "Permission denied");
  check_not_created(test_path("folder/other"), "Permission denied");
  CHECK(strstr(nvm_strerror(), "; let this user read and write there"));
  CHECK_FAILS(nvm_pool_check(test_path("folder/pool"), NULL, NULL) >= 0, NVM_EREADONLY);
}

/* Of another user, in a folder that may not be written. */
TEST_ONCE(unwritable_folder) {
  const char *path = test_path("folder/pool");
  CHECK(mkdir(test_path("folder"), 0755) == 0 && chmod(test_path(""), 0755) == 0);
  workload_run(path, progress_new(), 5);
  uint64_t before = sum_of(path);
  CHECK(chmod(path, geteuid() ? 0 : 0600) == 0 && chmod(test_path("folder"), 0555) == 0);
  int status = test_child(NULL, use_without_rights, NULL);
  CHECK(chmod(test_path("folder"), 0755) == 0 && chmod(path, 0600) == 0);
  if (status == TEST_SKIPPED << 8)
    test_skip("needs another user than the superuser to become");
  CHECK(status == 0 && sum_of(path) == before);
  workload_run(path, progress_new(), 6);
}
