/* copies.c: a private copy of a pool (NVMOVE_OPEN=copy): of one that nobody has open, and that nobody
 * opens meanwhile; pages that were not looked at yet would be later ones. */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include "nvmove/inspect.h"
#include "nvmove/repair.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAMPS = 50, APART = 1000 };

/* One block, no pointers: it can lie at two addresses. */
static void make(const char *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  long *stamps = nvm_calloc(pool, 0, STAMPS * APART, sizeof *stamps);
  CHECK(stamps && nvm_pool_set_root(pool, stamps) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static NVM_POOL *open_copy(const char *path) {
  setenv("NVMOVE_OPEN", "copy", 1);
  NVM_POOL *pool = nvm_pool_open(path);
  unsetenv("NVMOVE_OPEN");
  return pool;
}

/* As another process would: all in one transaction. */
static void stamp(void *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool)
    _exit(nvm_errno() == NVM_EBUSY && strstr(nvm_strerror(), "is open already") ? 3 : 1);
  long *stamps = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  for (int i = 0; i < STAMPS * APART; i += APART)
    STORE(stamps[i], stamps[i] + 1);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  _exit(0);
}

TEST(copy_keeps_others_out) {
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  make(path);
  NVM_POOL *pool = open_copy(path), *other = open_copy(path);
  CHECK(pool && other);
  long *stamps = nvm_pool_root(pool);
  CHECK(stamps[0] == 0);
  CHECK(WEXITSTATUS(test_child(NULL, stamp, path)) == 3);
  for (int i = 0; i < STAMPS * APART; i += APART)
    CHECK(stamps[i] == stamps[0]);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(WEXITSTATUS(test_child(NULL, stamp, path)) == 3);
  CHECK(nvm_pool_close(other) == 0 && test_child(NULL, stamp, path) == 0);
}

TEST(copy_of_a_pool_in_use_is_refused) {
  const char *path = test_path("pool");
  make(path);
  NVM_POOL *pool = test_open(path);
  CHECK_FAILS(open_copy(path) != NULL, NVM_EBUSY);
  CHECK(strstr(nvm_strerror(), "look at a copy ('nvmove pool backup'"));
  CHECK(nvm_pool_close(pool) == 0 && (pool = open_copy(path)));
  CHECK(nvm_pool_close(pool) == 0);
}

/* Leaves a child that has the copy's memory, and dies when that is there. */
static void leave_child(void *path) {
  int *pair = (int *)((char *)path + 200), there[2];
  char byte;
  CHECK(open_copy(path) && pipe(there) == 0);
  if (fork() == 0) {
    close(pair[1]);
    CHECK(write(there[1], "x", 1) == 1);
    _exit(read(pair[0], &byte, 1) == 0 ? 0 : 1);
  }
  CHECK(read(there[0], &byte, 1) == 1);
  kill(getpid(), SIGKILL);
}

TEST(copy_of_a_forked_child_holds_nobody_up) {
  struct {
    char path[200];
    int pair[2];
  } shared;
  CHECK(sizeof shared.path == 200 && pipe(shared.pair) == 0);
  snprintf(shared.path, sizeof shared.path, "%s", test_path("pool"));
  make(shared.path);
  CHECK(test_was_killed(test_child(NULL, leave_child, &shared)));
  CHECK(test_child(NULL, stamp, shared.path) == 0);
  close(shared.pair[1]);
}

/* It has no file of its own, so it keeps its size. */
TEST(copy_keeps_its_size) {
  const char *path = test_path("pool");
  make(path);
  NVM_POOL *pool = open_copy(path);
  CHECK(pool);
  CHECK_FAILS(nvm_pool_resize(pool, 8 << 20) == 0, NVM_EREADONLY);
  CHECK(strstr(nvm_strerror(), "a private copy (NVMOVE_OPEN=copy) keeps its size"));
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK_FAILS(nvm_alloc(pool, 0, 8 << 20) != NULL, NVM_EREADONLY);
  CHECK(strstr(nvm_strerror(), "'nvmove pool resize'"));
  CHECK(nvm_alloc(pool, 0, 1000) && nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

TEST_ONCE(copy_is_not_repaired) {
  const char *path = test_path("pool");
  struct nvm_repair how = {0};
  make(path);
  setenv("NVMOVE_OPEN", "copy", 1);
  CHECK_FAILS(nvm_pool_repair(path, &how) >= 0, NVM_EARGUMENT);
  CHECK(strstr(nvm_strerror(), "NVMOVE_OPEN=copy") && strstr(nvm_strerror(), "unset it"));
  how.dry_run = true;
  CHECK(nvm_pool_repair(path, &how) == 0);
}
