/* descriptors.c: what a program does with descriptors that it did not open, or that it closes
 * before a pool is opened.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include "nvmove/backup.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is printed does not go into the pool. */
TEST(descriptors_of_standard_streams_are_free) {
  const char *path = test_path("pool"), *copy = test_path("copy");
  int kept[3];
  for (int i = 0; i < 3; i++)
    kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
  for (int i = 0; i < 3; i++)
    close(i);
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  bool made = pool && nvm_pool_backup(pool, copy, NULL) == 0;
  bool are_free = fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0;
  printf("this is no pool\n");
  fflush(stdout);
  bool closed = nvm_pool_close(pool) == 0;
  for (int i = 0; i < 3; i++)
    CHECK(kept[i] < 0 || dup2(kept[i], i) == i);
  CHECK(made && are_free && closed);
  test_check_pool(path);
  test_check_pool(copy);
}

/* A daemon closes all descriptors, and opens its log: the pool grows no more, and leaves the log
 * alone. */
TEST(descriptors_closed_by_the_program) {
  struct stat log;
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *word = nvm_calloc(pool, 0, 1, sizeof *word);
  CHECK(nvm_pool_set_root(pool, word) == 0 && nvm_tx_commit(pool) == 0);
  int first = open(test_path("log"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  for (int fd = 3; fd < 64; fd++)
    if (fd != first)
      CHECK(dup2(first, fd) == fd);
  CHECK_FAILS(nvm_alloc(pool, 0, 8 << 20) != NULL, NVM_ESYSTEM);
  STORE(*word, 5);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(fstat(first, &log) == 0 && log.st_size == 0);
  pool = test_open(test_path("pool"));
  CHECK(*(uint64_t *)nvm_pool_root(pool) == 5 && nvm_pool_close(pool) == 0);
}

static NVM_POOL *make(const char *path, uint64_t value) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *word = nvm_calloc(pool, 0, 1, sizeof *word);
  STORE(*word, value);
  CHECK(nvm_pool_set_root(pool, word) == 0 && nvm_tx_commit(pool) == 0);
  return pool;
}

static void check_value(const char *path, uint64_t value) {
  test_check_pool(path);
  NVM_POOL *pool = test_open(path);
  CHECK(*(uint64_t *)nvm_pool_root(pool) == value && nvm_pool_close(pool) == 0);
}

/* It closes all descriptors, and opens another pool, which gets the number of the first one's: each
 * keeps to its own file. An earlier pool may have had the first place in the runtime's table. */
TEST(descriptors_closed_before_another_pool) {
  const char *one = test_path("pool"), *other = test_path("other"), *copy = test_path("copy");
  for (unsigned earlier = 0; earlier < 2; earlier++) {
    NVM_POOL *before = earlier ? test_create(test_path("before"), 1 << 20) : NULL;
    NVM_POOL *first = make(one, 5);
    CHECK(!before || nvm_pool_close(before) == 0);
    for (int fd = 3; fd < 64; fd++)
      close(fd);
    NVM_POOL *second = make(other, 7);
    CHECK_FAILS(nvm_alloc(first, 0, 8 << 20) != NULL, NVM_ESYSTEM);
    CHECK_FAILS(nvm_pool_backup(first, copy, NULL) == 0, NVM_ESYSTEM);
    CHECK(access(copy, F_OK) != 0);
    CHECK(nvm_tx_begin(second) == 0 && nvm_alloc(second, 0, 8 << 20));
    CHECK(nvm_tx_commit(second) == 0 && nvm_pool_backup(second, copy, NULL) == 0);
    CHECK(nvm_pool_close(first) == 0 && nvm_pool_close(second) == 0);
    check_value(one, 5);
    check_value(other, 7);
    check_value(copy, 7);
    CHECK(unlink(one) == 0 && unlink(other) == 0 && unlink(copy) == 0);
    unlink(test_path("before"));
  }
}

static _Atomic bool prints;

static void *print(void *unused) {
  while (prints)
    if (write(STDOUT_FILENO, "this is no pool", 15) < 0)
      sched_yield();
  return unused;
}

/* Nor does what another thread prints while a pool is opened, to a descriptor that is closed. */
TEST_ONCE(descriptors_are_never_low) {
  pthread_t thread;
  int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  NVM_POOL *pool = make(test_path("pool"), 5);
  CHECK(nvm_pool_close(pool) == 0);
  close(STDOUT_FILENO);
  prints = true;
  CHECK(pthread_create(&thread, NULL, print, NULL) == 0);
  bool right = true;
  for (unsigned i = 0; i < 500 && right; i++) {
    pool = nvm_pool_open(test_path("pool"));
    right = pool && nvm_pool_close(pool) == 0;
  }
  prints = false;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(kept < 0 || dup2(kept, STDOUT_FILENO) == STDOUT_FILENO);
  CHECK(right);
  check_value(test_path("pool"), 5);
}
