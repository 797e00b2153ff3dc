/* descriptors.c: what a program does with descriptors that it did not open, or that it closes
 * before a pool is opened.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include "nvmove/backup.h"

#include <fcntl.h>
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
