/* stepped_posts.c: a signal handler posts a semaphore at each instruction of a transaction, one after another
 * (stepping.h). Whoever waits for it sees what the transaction stored: so the post happens before the
 * first store, or hands the transaction on, or happens when the transaction has ended.
 */
#include "core/thread.h"
#include "harness.h"
#include "log/log.h"
#include "order/order.h"
#include "stepping.h"
#include "store.h"

#include <semaphore.h>
#include <setjmp.h>

enum { TYPES = NVM_TYPES_MAX - 100 };

static NVM_POOL *pool;
static struct {
  uint64_t *block, words[64];
} *root;
static uint64_t value;
static sem_t semaphore;
static volatile int came;
static volatile bool has_stored;
static uint64_t ends; /* transactions that had ended before */

static uint64_t ended(void) {
  const struct nvmi_log *log = nvmi_self->logs[pool->index];
  return log->stats.commits + log->stats.aborts;
}

static int posts(void) {
  int count;
  CHECK(sem_getvalue(&semaphore, &count) == 0);
  return count;
}

static void post(int number) {
  (void)number;
  came++;
  CHECK(sem_post(&semaphore) == 0);
  CHECK(!posts() || !has_stored || nvmi_order_released || ended() != ends);
}

static void store(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->words[0], value);
  has_stored = true;
}

static void commit_once(void) {
  store();
  CHECK(nvm_tx_commit(pool) == 0);
}

static void abort_once(void) {
  store();
  CHECK(nvm_tx_abort(pool) == 0);
}

static void change_once(void) {
  store();
  for (unsigned i = 8; i < 64; i += 8)
    STORE(root->words[i], value);
  uint64_t *block = nvm_alloc(pool, 0, 100 + value % 3 * 100);
  STORE(*block, value);
  nvm_free(root->block);
  STORE(root->block, block);
  CHECK(nvm_tx_commit(pool) == 0);
}

/* Each time a type that the pool does not know. */
static void type_once(void) {
  store();
  void *block = nvm_alloc(pool, 1000 + value, 40);
  CHECK(block && nvm_free(block) == 0);
  CHECK(nvm_tx_commit(pool) == 0);
}

static void make(void) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  commit_once();
}

static void make_anew(void) {
  signal(SIGUSR1, SIG_IGN);
  CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
  make();
  signal(SIGUSR1, post);
}

static void repeat(void (*once)(void)) {
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  make();
  signal(SIGUSR1, post);
  for (value++;; value++) {
    if (value % TYPES == 0)
      make_anew();
    has_stored = false;
    came = 0;
    ends = ended();
    stop();
    once();
    stop();
    CHECK(posts() == came && (!came || sem_wait(&semaphore) == 0));
    CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_commit(pool) == 0);
    CHECK(!nvmi_self->node && !nvmi_order_released && !nvmi_self->touched);
  }
}

static sigjmp_buf landing;
static sem_t posted_before;

static void post_and_jump(int number) {
  (void)number;
  came++;
  CHECK(sem_post(&semaphore) == 0);
  siglongjmp(landing, 1);
}

/* Behind a store that is left by a jump both posts happen, that of the handler and that of one before. */
static void repeat_jumps(void) {
  int count;
  CHECK(sem_init(&semaphore, 0, 0) == 0 && sem_init(&posted_before, 0, 0) == 0);
  make();
  signal(SIGUSR1, post_and_jump);
  for (value++;; value++) {
    CHECK(nvm_tx_begin(pool) == 0);
    came = 0;
    nvmi_self->posts[0] = (struct nvmi_post){&posted_before, 1};
    nvmi_self->posts_count = 1;
    stop();
    if (!sigsetjmp(landing, 1))
      STORE(root->words[8], value);
    __nvm_atomic_landed(__builtin_frame_address(0));
    stop();
    CHECK(!nvmi_in_order && !nvmi_self->busy && posts() == came);
    CHECK(sem_getvalue(&posted_before, &count) == 0 && count == 1 && sem_wait(&posted_before) == 0);
    CHECK((!came || sem_wait(&semaphore) == 0) && nvm_tx_commit(pool) == 0);
    CHECK(!nvmi_self->node && !nvmi_order_released && !nvmi_self->touched);
  }
}

static void (*once)(void);

static void repeat_once(void) { once ? repeat(once) : repeat_jumps(); }

static void step_all(void (*work)(void)) {
  if (test_is_delayed())
    test_skip("the thread that syncs is not traced, and would meet the breakpoints");
  once = work;
  size_t count = test_is_long() ? step_through(repeat_once, 3, 1, 0)
                                : step_through(repeat_once, 1, 7, test_seed());
  CHECK(count > 400);
}

TEST(stepped_posts_in_a_commit) { step_all(commit_once); }

TEST(stepped_posts_in_an_abort) { step_all(abort_once); }

TEST(stepped_posts_in_the_heap) { step_all(change_once); }

TEST(stepped_posts_at_a_new_type) { step_all(type_once); }

TEST(stepped_posts_and_jumps) { step_all(NULL); }
