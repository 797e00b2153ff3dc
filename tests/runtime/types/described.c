/* described.c: a library describes its types while a pool is opened, or while one is closed. */
#include "core/pool.h"
#include "harness.h"
#include "hooks.h"
#include "moved.h"
#include "store.h"

#include <stdlib.h>

enum { TYPES = 4, TYPE_ID = 745000 };

static struct nvm_type types[TYPES];
static unsigned described_so_far;

static void describe_one(void) {
  unsigned i = described_so_far++;
  CHECK(i < TYPES);
  types[i] =
      (struct nvm_type){.id = TYPE_ID + i, .name = "", .members = "", .size = 8, .alignment = 8};
  const struct nvm_type *one[] = {&types[i]};
  __nvm_describe(one, one + 1);
}

static void describe_in_a_move(enum nvmi_step step) {
  if (step == NVMI_STEP_MOVE && !described_so_far)
    describe_one();
}

/* What comes behind the look at the pool's own types is learned, too. */
TEST(described_while_a_pool_is_opened) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 2 << 20);
  uint64_t base = (uintptr_t)nvm_pool_base(pool);
  CHECK(nvm_pool_close(pool) == 0);
  setenv("NVMOVE_KILL_AT", "move:1000", 1); /* so that the steps of a move are counted */
  hook_steps(describe_in_a_move);
  pool = nvm_pool_open_at(path, (void *)(uintptr_t)moved_base(base == moved_base(20) ? 21 : 20));
  hook_steps(NULL);
  CHECK(pool && described_so_far == 1 && pool->learned == 1);
  CHECK(nvm_pool_close(pool) == 0);
}

static NVM_POOL *closing;
static unsigned learned;

static void describe_in_a_close(void) {
  hook_barrier = NULL;
  unsigned before = closing->learned;
  describe_one();
  learned = closing->learned - before;
}

/* One that goes away is left alone. */
TEST(described_while_a_pool_is_closed) {
  closing = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(closing) == 0 && nvm_alloc(closing, 0, 8) && nvm_tx_commit(closing) == 0);
  hook_barrier = describe_in_a_close;
  CHECK(nvm_pool_close(closing) == 0);
  CHECK(described_so_far == 1 && learned == 0);
}
