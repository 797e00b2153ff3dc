/* floor.c: a run of chunks gets another use while the record of its last use is still in the log.
 *
 * In a pool without a free chunk: the first transaction stores to the only block of a span and
 * frees it; the second does something else; the third needs a table of small blocks, which takes
 * the place of the span. If the power fails now, the first record must not be replayed: its bytes
 * lie where the table is.
 */
#include "harness.h"
#include "heap/heap_types.h"
#include "simulation.h"
#include "store.h"

#include <pthread.h>
#include <string.h>

enum { OLD = 30000, SMALL = 64, LARGE = 70000, LARGE_CHUNKS = 5, FILLER = 1000 };

struct root {
  uint64_t turn, others, helped;
  char *block, *large;
};

static uint32_t unused_chunks(const struct nvm_pool *pool) {
  return pool->heap->chunks - pool->heap->used_end;
}

static void need_block(NVM_POOL *pool, struct root *root, size_t size) {
  CHECK(nvm_alloc(pool, 0, size) != NULL);
  STORE(root->others, root->others + 1);
}

/* What can be reclaimed is. */
static void ask_for_too_much_now(NVM_POOL *pool) {
  CHECK(!nvm_alloc(pool, 0, pool->header.range - pool->header.heap_offset));
}

/* Another thread, at work when it is told to. */
struct helper {
  NVM_POOL *pool;
  pthread_barrier_t turn;
};

static void next_turn(struct helper *helper) { pthread_barrier_wait(&helper->turn); }

/* Has a log; then asks for more than the pool may ever have, which reclaims what can be. */
static void *ask_for_too_much(void *argument) {
  struct helper *helper = argument;
  NVM_POOL *pool = helper->pool;
  struct root *root = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->helped, root->helped + 1);
  CHECK(nvm_tx_commit(pool) == 0);
  next_turn(helper);
  next_turn(helper);
  ask_for_too_much_now(pool);
  next_turn(helper);
  next_turn(helper);
  return NULL;
}

static pthread_t start_helper(struct helper *helper, NVM_POOL *pool) {
  pthread_t thread;
  helper->pool = pool;
  CHECK(pthread_barrier_init(&helper->turn, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, ask_for_too_much, helper) == 0);
  next_turn(helper);
  return thread;
}

static void end_helper(struct helper *helper, pthread_t thread) {
  next_turn(helper);
  pthread_join(thread, NULL);
}

static void prepare(void *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct root *root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0);
  char *block = nvm_alloc(pool, 0, OLD);
  STORE(root->block, block);
  char *large = nvm_alloc(pool, 0, LARGE);
  STORE(root->large, large);
  STORE(root->others, 1);
  CHECK(nvm_tx_commit(pool) == 0);
  struct helper helper; /* its log takes its place now */
  pthread_t thread = start_helper(&helper, pool);
  next_turn(&helper);
  next_turn(&helper);
  end_helper(&helper, thread);
  CHECK(nvm_tx_begin(pool) == 0);
  while (unused_chunks(pool) >= LARGE_CHUNKS)
    need_block(pool, root, LARGE);
  while (unused_chunks(pool))
    need_block(pool, root, FILLER);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

static void store_and_free(NVM_POOL *pool, struct root *root) {
  CHECK(nvm_tx_begin(pool) == 0);
  __nvm_note(root->block, 512);
  memset(root->block, 0xee, 512);
  CHECK(nvm_free(root->block) == 0);
  STORE(root->block, NULL);
  CHECK(nvm_tx_commit(pool) == 0);
}

static void take_place(NVM_POOL *pool, struct root *root, uint64_t size) {
  CHECK(nvm_tx_begin(pool) == 0);
  char *block = nvm_alloc(pool, 0, SMALL);
  CHECK(block != NULL);
  STORE(root->block, block);
  STORE(root->turn, 2);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(pool->header.heap_size == size); /* else the span's place was not taken */
}

static void change_use_of(const struct power_cut *cut, bool again) {
  power_arm(cut);
  NVM_POOL *pool = test_open(cut->path);
  struct root *root = nvm_pool_root(pool);
  uint64_t size = pool->header.heap_size;
  power_hold(true);
  if (again)
    ask_for_too_much_now(pool);
  power_hold(false);
  store_and_free(pool, root);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->turn, 1);
  CHECK(nvm_tx_commit(pool) == 0);
  take_place(pool, root, size);
  CHECK(nvm_pool_close(pool) == 0);
}

static void change_use(void *cut) { change_use_of(cut, false); }
/* The floor was raised before in this opening. */
static void change_use_again(void *cut) { change_use_of(cut, true); }

/* What one thread reclaims another takes, whose fences say nothing about what the first has
 * flushed. */
static void change_use_of_two(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  NVM_POOL *pool = test_open(cut->path);
  struct root *root = nvm_pool_root(pool);
  uint64_t size = pool->header.heap_size;
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->turn, 1);
  CHECK(nvm_tx_commit(pool) == 0);
  struct helper helper;
  pthread_t thread = start_helper(&helper, pool);
  store_and_free(pool, root);
  next_turn(&helper);
  next_turn(&helper);
  take_place(pool, root, size);
  end_helper(&helper, thread);
  CHECK(nvm_pool_close(pool) == 0);
}

static void verify(const char *path) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  CHECK(root->turn <= 2 &&
        (root->turn != 2 || !root->block || nvm_usable_size(root->block) >= SMALL));
  CHECK(test_blocks(pool) == 1 + root->others + (root->block != NULL));
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

/* A large block waits for the floor in another list. The next transaction has to leave its run
 * alone: the pool grows. */
static void free_large(void *argument) {
  const struct power_cut *cut = argument;
  power_arm(cut);
  NVM_POOL *pool = test_open(cut->path);
  struct root *root = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  __nvm_note(root->large, 512);
  memset(root->large, 0xee, 512);
  CHECK(nvm_free(root->large) == 0);
  STORE(root->large, NULL);
  STORE(root->others, root->others - 1);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  need_block(pool, root, SMALL);
  STORE(root->turn, 2);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(power_failure_new_use_undo) {
  power_fail_everywhere("undo", prepare, change_use, verify);
}

TEST_ONCE(power_failure_new_use_shadow) {
  power_fail_everywhere("shadow", prepare, change_use, verify);
}

TEST_ONCE(power_failure_new_use_again) {
  power_fail_everywhere("undo", prepare, change_use_again, verify);
  power_fail_everywhere("shadow", prepare, change_use_again, verify);
}

/* A thread has read the next number, and stops before it says so; meanwhile others commit and
 * reclaim. What it says then lies below the floor, which may not follow. */
TEST_ONCE(floor_never_sinks) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_alloc(pool, 0, 16) != NULL && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  uint64_t number = pool->order;
  for (int i = 0; i < 3; i++) {
    CHECK(nvm_alloc(pool, 0, 16) != NULL && nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  }
  pool->logs[0]->pending = 0;
  ask_for_too_much_now(pool);
  const struct nvm_floor *floor = (const void *)(pool->home + NVM_FLOOR_OFFSET);
  uint64_t order = floor->order;
  CHECK(order > number);
  pool->logs[0]->pending = number << 1 | 1;
  ask_for_too_much_now(pool);
  CHECK(floor->order == order);
  pool->logs[0]->pending = 0;
  CHECK(nvm_pool_close(pool) == 0);
}

/* A large block that a transaction freed has its place back when the next one has committed. */
TEST(floor_follows_commits) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  uint64_t size = pool->header.heap_size;
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, 8, sizeof *words);
  CHECK(words && nvm_tx_commit(pool) == 0);
  for (int i = 0; i < 5; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    char *most = nvm_alloc(pool, 0, size / 2);
    CHECK(most && nvm_tx_commit(pool) == 0);
    CHECK(nvm_tx_begin(pool) == 0 && nvm_free(most) == 0 && nvm_tx_commit(pool) == 0);
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(words[0], words[0] + 1);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  CHECK(pool->header.heap_size == size);
  CHECK(nvm_pool_close(pool) == 0);
}

TEST_ONCE(power_failure_new_use_of_two) {
  power_fail_everywhere("shadow", prepare, change_use_of_two, verify);
}

TEST_ONCE(power_failure_new_use_of_large) {
  power_fail_everywhere("shadow", prepare, free_large, verify);
}
