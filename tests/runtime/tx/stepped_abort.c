/* stepped_abort.c: a signal handler stores at each instruction of a transaction that is undone, one after another
 * (stepping.h), to bytes that the transaction stored, and to others: none of it is torn.
 */
#include "core/thread.h"
#include "harness.h"
#include "sparse.h"
#include "stepping.h"
#include "store.h"
#include "type_tables.h"

enum { WORDS = 20, LINK_ID = 3392 };

struct words {
  uint64_t outside;
  struct words *link;
  uint64_t handlers[WORDS];
};
static const struct nvm_field fields[] = {
    {.name = "link", .offset = 8, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
static const struct nvm_type type = TEST_TYPE(LINK_ID, words, fields);
TEST_TYPES(described, &type);

static NVM_POOL *pool;
static struct words *root, *dram; /* no variable, whose name would be looked for */
static uint64_t value;
static volatile int came;
static int came_before; /* the transaction began */

static void store(int number) {
  (void)number;
  came++;
  for (unsigned i = 0; i < WORDS; i++)
    STORE(root->handlers[i], value);
}

static bool all_are(const struct words *words, uint64_t expected) {
  for (unsigned i = 0; i < WORDS; i++)
    if (words->handlers[i] != expected)
      return false;
  return true;
}

static void begin(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  came_before = came;
  STORE(root->handlers[0], 0);
  STORE(root->handlers[WORDS - 1], 0);
}

static void abort_once(void) {
  begin();
  CHECK(nvm_tx_abort(pool) == 0);
}

static void fail_once(void) {
  begin();
  STORE(root->link, dram);
  CHECK_FAILS(nvm_tx_commit(pool) == 0, NVM_EUNSAFE);
}

/* Behind the transaction nothing was committed; in it the handler's stores are undone with the rest. */
static void look_at_killed(uint64_t word) {
  sparse_copy(test_path("pool"), test_path("killed"));
  NVM_POOL *killed = test_open(test_path("killed"));
  const struct words *found = nvm_pool_root(killed);
  CHECK(all_are(found, word) || (came_before && all_are(found, value)));
  CHECK(found->outside == value - 1 && !found->link);
  CHECK(nvm_pool_close(killed) == 0);
}

static void repeat(void (*once)(void)) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, LINK_ID, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  CHECK((dram = malloc(sizeof *dram)) && signal(SIGUSR1, store) != SIG_ERR);
  for (value++;; value++) {
    uint64_t word = root->handlers[0];
    came = came_before = 0;
    nvmi_self->handlers_store = false; /* else signals wait during commits */
    stop();
    once();
    stop();
    CHECK(came <= 1 && !root->link);
    CHECK(all_are(root, word) || (came && all_are(root, value)));
    STORE(root->outside, value);
    look_at_killed(word);
    CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
  }
}

static void (*once)(void);

static void repeat_once(void) { repeat(once); }

/* Short tests try every `step`th instruction, long ones `denser` times as many. */
static void step_all(void (*work)(void), size_t step, size_t denser) {
  if (test_is_delayed())
    test_skip("the thread that syncs is not traced, and would meet the breakpoints");
  once = work;
  size_t count = test_is_long() ? step_through(repeat_once, 3, step / denser, 0)
                                : step_through(repeat_once, 1, step, test_seed());
  CHECK(count > 400);
}

TEST(stepped_torn_by_an_abort) { step_all(abort_once, 11, 11); }

/* Most of its instructions make the message. */
TEST(stepped_torn_by_a_commit_that_fails) { step_all(fail_once, 61, 20); }
