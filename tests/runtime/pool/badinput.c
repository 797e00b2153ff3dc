/* badinput.c: files that are no pools, pools that are not whole, disks that are full: a typed error
 * each, and a pool that still opens when the cause is gone. */
#define _GNU_SOURCE
#include "base/checksum.h"
#include "format/layout.h"
#include "harness.h"
#include "store.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *write_file(const char *name, const void *bytes, size_t size) {
  const char *path = test_path(name);
  int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
  close(fd);
  return path;
}

static const char *closed_pool(const char *name) {
  const char *path = test_path(name);
  workload_run(path, progress_new(), 5);
  return path;
}

TEST_ONCE(bad_arguments) {
  static char long_path[5000];
  memset(long_path, 'x', sizeof long_path - 1);
  CHECK_FAILS(nvm_pool_open(long_path), NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_create(long_path, 1 << 20), NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_open(NULL), NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_create(NULL, 1 << 20), NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_create(test_path("p"), (1 << 20) - 1), NVM_EARGUMENT);
  CHECK_FAILS(nvm_pool_create(test_path("p"), (size_t)1 << 40), NVM_ETOOLARGE);
  CHECK_FAILS(nvm_pool_create(test_path("no/such/folder/p"), 1 << 20), NVM_EMISSING);
  CHECK_FAILS(nvm_pool_close(NULL) == 0, NVM_EARGUMENT);
  CHECK_FAILS(nvm_tx_begin(NULL) == 0, NVM_EARGUMENT);
  setenv("NVMOVE_METHOD", "magic", 1);
  CHECK_FAILS(nvm_pool_create(test_path("p"), 1 << 20), NVM_EARGUMENT);
  unsetenv("NVMOVE_METHOD");
  setenv("NVMOVE_DOMAIN", "moon", 1);
  CHECK_FAILS(nvm_pool_create(test_path("p"), 1 << 20), NVM_EARGUMENT);
  CHECK(access(test_path("p"), F_OK) != 0);
}

TEST_ONCE(files_that_are_no_pools) {
  char text[10000];
  memset(text, 'x', sizeof text);
  CHECK_FAILS(nvm_pool_open(test_path("missing")), NVM_EMISSING);
  CHECK_FAILS(nvm_pool_open(write_file("empty", "", 0)), NVM_EEMPTY);
  CHECK_FAILS(nvm_pool_open(write_file("small", text, 100)), NVM_EFOREIGN);
  CHECK_FAILS(nvm_pool_open(write_file("tiny", text, 1)), NVM_EFOREIGN);
  CHECK_FAILS(nvm_pool_open(write_file("foreign", text, sizeof text)), NVM_EFOREIGN);
  CHECK_FAILS(nvm_pool_open("/dev/null"), NVM_EFOREIGN);
  CHECK_FAILS(nvm_pool_create(write_file("there", "", 0), 1 << 20), NVM_EEXISTS);
  CHECK(strstr(nvm_strerror(), test_path("there")) && strstr(nvm_strerror(), "exists"));
}

TEST_ONCE(truncated_pool) {
  const char *path = closed_pool("pool");
  struct stat status;
  CHECK(stat(path, &status) == 0);
  for (off_t length = status.st_size - 1; length > 0; length = length * 2 / 3) {
    CHECK(truncate(path, length) == 0);
    CHECK_FAILS(nvm_pool_open(path), NVM_ETRUNCATED);
  }
}

static void edit_header(const char *path, int copy, size_t at, int flip, bool sum_up) {
  struct nvm_header header;
  int fd = open(path, O_RDWR);
  CHECK(pread(fd, &header, sizeof header, copy * NVM_HEADER_COPY_SIZE) == (ssize_t)sizeof header);
  ((unsigned char *)&header)[at] ^= (unsigned char)flip;
  if (sum_up) {
    header.check = 0;
    header.check = nvmi_check(&header, sizeof header, 0);
  }
  CHECK(pwrite(fd, &header, sizeof header, copy * NVM_HEADER_COPY_SIZE) == (ssize_t)sizeof header);
  close(fd);
}

/* Every byte of the header in turn: one bad copy is repaired from the other, two are refused. */
TEST_ONCE(spoiled_header) {
  const char *path = closed_pool("pool");
  for (size_t at = 0; at < sizeof(struct nvm_header); at++) {
    for (int copy = 0; copy < 2; copy++) {
      edit_header(path, copy, at, 0x10, false);
      CHECK(nvm_pool_check(path, NULL, NULL) == 1);
      NVM_POOL *pool = test_open(path);
      CHECK(nvm_pool_close(pool) == 0);
      CHECK(nvm_pool_check(path, NULL, NULL) == 0);
    }
    edit_header(path, 0, at, 0x10, false);
    edit_header(path, 1, at, 0x10, false);
    enum nvm_error code = at < 8 ? NVM_EFOREIGN : at < 12 ? NVM_EVERSION : NVM_ECORRUPT;
    CHECK_FAILS(nvm_pool_open(path), code);
    edit_header(path, 0, at, 0x10, false);
    edit_header(path, 1, at, 0x10, false);
  }
  workload_run(path, progress_new(), 6);
}

/* A checksum that holds does not make a nonsensical field sensible. */
TEST_ONCE(senseless_header) {
  static const size_t fields[] = {
      offsetof(struct nvm_header, header_size), offsetof(struct nvm_header, base),
      offsetof(struct nvm_header, range),       offsetof(struct nvm_header, heap_offset),
      offsetof(struct nvm_header, heap_size),   offsetof(struct nvm_header, state),
      offsetof(struct nvm_header, method),      offsetof(struct nvm_header, log_format),
      offsetof(struct nvm_header, domain)};
  const char *path = closed_pool("pool");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    for (int undo = 0; undo < 2; undo++) {
      edit_header(path, 0, fields[i], 0x10, true);
      edit_header(path, 1, fields[i], 0x10, true);
      if (!undo)
        CHECK_FAILS(nvm_pool_open(path), NVM_ECORRUPT);
    }
  }
  workload_run(path, progress_new(), 6);
}

TEST_ONCE(newer_format) {
  const char *path = closed_pool("pool");
  edit_header(path, 0, offsetof(struct nvm_header, format), NVM_FORMAT ^ (NVM_FORMAT + 1), true);
  edit_header(path, 1, offsetof(struct nvm_header, format), NVM_FORMAT ^ (NVM_FORMAT + 1), true);
  CHECK_FAILS(nvm_pool_open(path), NVM_EVERSION);
}

static void open_elsewhere(void *path) {
  /* Pools of the parent are known here, so only the file's lock can refuse. */
  CHECK_FAILS(nvm_pool_open(path), NVM_EBUSY);
}

TEST(second_opener) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK_FAILS(nvm_pool_open(path), NVM_EBUSY);
  CHECK_FAILS(nvm_pool_check(path, NULL, NULL) >= 0, NVM_EBUSY);
  CHECK(test_child(NULL, open_elsewhere, (void *)(uintptr_t)path) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(nvm_pool_close(test_open(path)) == 0);
}

TEST_ONCE(disk_full_at_creation) {
  test_small_disk(900);
  CHECK_FAILS(nvm_pool_create(test_path("disk/pool"), 1 << 20), NVM_ENOSPACE);
  CHECK(access(test_path("disk/pool"), F_OK) != 0);
}

TEST(disk_full_at_growth) {
  test_small_disk(1600);
  const char *path = test_path("disk/pool");
  NVM_POOL *pool = test_create(path, 1 << 20);
  void *block = NULL, *last = NULL;
  unsigned count = 0;
  do {
    last = block;
    CHECK(nvm_tx_begin(pool) == 0);
    block = nvm_alloc(pool, 0, 100000);
    if (block)
      STORE(*(void **)block, last);
    CHECK(nvm_pool_set_root(pool, block ? block : last) == 0);
    CHECK(nvm_tx_commit(pool) == 0);
    count += block != NULL;
  } while (block);
  CHECK(nvm_errno() == NVM_ENOSPACE && count >= 7);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(path);
  for (void **at = nvm_pool_root(pool); at; at = *at)
    count--;
  CHECK(count == 0 && nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

static void fill_log(void *argument) {
  NVM_POOL *pool = test_open(argument);
  char *bytes = nvm_pool_root(pool);
  nvm_tx_begin(pool);
  for (size_t i = 0; i < 600000; i += 8)
    STORE(*(uint64_t *)(bytes + i), 1);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOSPACE); /* shadow: the whole transaction is undone */
  CHECK(*(uint64_t *)bytes == 0);
  nvm_tx_begin(pool);
  STORE(*(uint64_t *)bytes, 0);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

/* With undo a store finds no room for its entry: the process stops, the pool does not suffer. */
TEST(disk_full_at_log_append) {
  test_small_disk(1200);
  const char *path = test_path("disk/pool");
  NVM_POOL *pool = test_create(path, 1 << 20);
  nvm_tx_begin(pool);
  CHECK(nvm_pool_set_root(pool, nvm_alloc(pool, 0, 600000)) == 0);
  bool shadow = test_is_shadow(pool);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  int status = test_child(NULL, fill_log, (void *)(uintptr_t)path);
  CHECK(shadow ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  pool = test_open(path);
  const char *bytes = nvm_pool_root(pool);
  for (size_t i = 0; i < 600000; i++)
    CHECK(bytes[i] == 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST(bad_allocations) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  int local;
  nvm_tx_begin(pool);
  CHECK_FAILS(nvm_alloc(pool, 0, 0), NVM_EARGUMENT);
  CHECK_FAILS(nvm_alloc(NULL, 0, 8), NVM_EARGUMENT);
  CHECK_FAILS(nvm_alloc(pool, 0, (size_t)1 << 40), NVM_ETOOLARGE);
  CHECK_FAILS(nvm_alloc(pool, 0, SIZE_MAX), NVM_ETOOLARGE);
  CHECK_FAILS(nvm_calloc(pool, 0, SIZE_MAX / 2, 3), NVM_ETOOLARGE);
  CHECK_FAILS(nvm_free(&local) == 0, NVM_EPOINTER);
  char *block = nvm_alloc(pool, 0, 100), *large = nvm_alloc(pool, 0, 100000);
  CHECK_FAILS(nvm_free(block + 1) == 0, NVM_EPOINTER);
  CHECK_FAILS(nvm_free(large + 16384) == 0, NVM_EPOINTER);
  CHECK_FAILS(nvm_free((char *)pool + 8) == 0, NVM_EPOINTER);
  CHECK_FAILS(nvm_usable_size(block + 8) != 0, NVM_EPOINTER);
  CHECK(nvm_free(NULL) == 0 && nvm_free(block) == 0 && nvm_free(large) == 0);
  CHECK_FAILS(nvm_free(block) == 0, NVM_EDOUBLEFREE);
  CHECK_FAILS(nvm_free(large) == 0, NVM_EDOUBLEFREE);
  CHECK_FAILS(nvm_realloc(pool, block, 4000), NVM_EDOUBLEFREE);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK_FAILS(nvm_free(block) == 0, NVM_EDOUBLEFREE);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_ENOTX);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(*(void **)nvm_alloc(pool, 0, 8), NULL);
  CHECK(nvm_pool_close(pool) == -1 && nvm_errno() == NVM_EOPENTX);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

/* A pool that was closed is not recovered: who takes the log looks whether it is one. */
TEST(damaged_log_of_a_closed_pool) {
  const char *path = closed_pool("pool");
  int fd = open(path, O_WRONLY);
  uint64_t nowhere = UINT64_C(1) << 40;
  CHECK(pwrite(fd, &nowhere, 8, NVM_SLOTS_OFFSET) == 8 && close(fd) == 0);
  NVM_POOL *pool = test_open(path);
  CHECK_FAILS(nvm_alloc(pool, 0, 8), NVM_ECORRUPT);
  CHECK(nvm_pool_close(pool) == 0);
}
