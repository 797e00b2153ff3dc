/* late.c: what a signal's handler stores in the middle of a commit is judged like all else. */
#include "harness.h"
#include "hooks.h"
#include "pointer.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 4 };

static struct pointer dram, *stored;

static unsigned steps, raised_at;

static void store_unsafe(int number) {
  (void)number;
  STORE(stored->to, &dram);
}

static void raise_once(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT && ++steps == raised_at)
    raise(SIGUSR1);
}

static void commit_with_handler(void *path) {
  NVM_POOL *pool = test_create(path, 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  stored = nvm_calloc(pool, POINTER_ID, 1, sizeof *stored);
  CHECK(nvm_pool_set_root(pool, stored) == 0 && nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, store_unsafe);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(stored->number, 5);
  hook_steps(raise_once);
  CHECK(nvm_tx_commit(pool) == 0);
  hook_steps(NULL);
  if (steps >= raised_at)
    CHECK_FAILS(nvm_tx_begin(pool) == 0, NVM_EUNSAFE);
  CHECK(!stored->to && nvm_pool_close(pool) == 0);
}

/* Either the handler's store is the next transaction's, which is undone, or the process ends. */
TEST(handler_stores_an_unsafe_pointer_in_a_commit) {
  const char *path = test_path("pool");
  describe_pointer();
  for (raised_at = 1; raised_at <= STEPS; raised_at++) {
    int status = test_child(NULL, commit_with_handler, (void *)(uintptr_t)path);
    CHECK(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    NVM_POOL *pool = test_open(path);
    stored = nvm_pool_root(pool);
    CHECK(!stored->to && (!status || !stored->number || stored->number == 5));
    CHECK(nvm_pool_close(pool) == 0 && unlink(path) == 0);
  }
}
