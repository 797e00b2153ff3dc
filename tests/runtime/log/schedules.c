/* schedules.c: what one thread has flushed and not fenced when another goes on: each such place by
 * hand, with a power failure at every event. A thread's fences say nothing of another's flushes.
 */
#define _GNU_SOURCE
#include "schedules.h"

#include "heap/heap_types.h"
#include "hooks.h"
#include "log/log.h"
#include "store.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LONG = 2500 };

NVM_POOL *pool;
struct root *root;
static const char *pool_path;
volatile uint64_t *acknowledged;

void share_progress(void) {
  acknowledged = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(acknowledged != MAP_FAILED);
}

void in_thread(void *(*work)(void *)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

void *take_log(void *unused) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->far[WORDS - 1], 1);
  CHECK(nvm_tx_commit(pool) == 0);
  return unused;
}

void prepare(void *path) {
  pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  in_thread(take_log);
  CHECK(nvm_pool_close(pool) == 0);
}

void begin(const void *argument) {
  const struct power_cut *cut = argument;
  *acknowledged = 0;
  power_arm(cut);
  power_hold(true); /* opening and closing have tests of their own */
  pool_path = cut->path;
  pool = test_open(cut->path);
  root = nvm_pool_root(pool);
}

void end(void) {
  power_hold(true);
  CHECK(nvm_pool_close(pool) == 0);
}

void verify_with(const char *path, void (*verify)(const struct root *)) {
  NVM_POOL *image = test_open(path);
  verify(nvm_pool_root(image));
  CHECK(test_blocks(image) == 1 + ((struct root *)nvm_pool_root(image))->blocks);
  CHECK(nvm_pool_close(image) == 0);
  test_check_pool(path);
}

static void *store_seven(void *unused) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->word, 7);
  CHECK(nvm_tx_commit(pool) == 0);
  *acknowledged = 7;
  return unused;
}

static void is_none_or_seven(const struct root *r) {
  CHECK(r->word == 7 || (r->word == 0 && !*acknowledged));
}

static void verify_word(const char *path) { verify_with(path, is_none_or_seven); }

/* After an abort another thread may write the same bytes: they must not be undone once more. */
static void abort_then_other(void *cut) {
  begin(cut);
  pool->several_logs = true;
  power_hold(false);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->word, 1);
  CHECK(nvm_tx_abort(pool) == 0);
  in_thread(store_seven);
  end();
}

TEST_ONCE(power_failure_after_an_abort) {
  share_progress();
  power_fail_everywhere("undo", prepare, abort_then_other, verify_word);
}

static void *open_and_fill(void *unused) {
  pool = test_open(pool_path);
  root = nvm_pool_root(pool);
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK(nvm_alloc(pool, 0, 500) != NULL);
  STORE(root->blocks, 1);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  return unused;
}

/* A log that grew is short again; who opens the pool next uses what it had. */
static void close_then_other(void *cut) {
  begin(cut);
  CHECK(nvm_tx_begin(pool) == 0);
  __nvm_note(root->far, LONG * sizeof *root->far);
  memset(root->far, 1, LONG * sizeof *root->far);
  CHECK(nvm_tx_commit(pool) == 0);
  power_hold(false);
  CHECK(nvm_pool_close(pool) == 0);
  in_thread(open_and_fill);
}

static void is_all_or_nothing(const struct root *r) {
  for (unsigned i = 1; i < LONG; i++)
    CHECK(r->far[i] == r->far[0]);
}

static void verify_far(const char *path) { verify_with(path, is_all_or_nothing); }

TEST_ONCE(power_failure_after_a_close) {
  share_progress();
  power_fail_everywhere("undo", prepare, close_then_other, verify_far);
}

/* The barrier makes a store visible that another processor had not let out yet: a thread's mark
 * that it is alone in the pool. Who makes the second log waits for that section to end. */
static _Atomic int section; /* 1: entered, 2: left */

static void enter_section(void) {
  if (section)
    return;
  section = 1;
  pool->logs[0]->solo = 1;
}

static void leave_section(void) {
  if (section != 1)
    return;
  section = 2;
  pool->logs[0]->solo = 0;
}

TEST_ONCE(second_log_waits_for_a_section) {
  share_progress();
  prepare((void *)(uintptr_t)test_path("pool"));
  pool = test_open(test_path("pool"));
  root = nvm_pool_root(pool);
  store_seven(NULL);
  hook_barrier = enter_section;
  hook_yield = leave_section;
  in_thread(take_log);
  CHECK(section == 2);
  hook_barrier = NULL;
  CHECK(nvm_pool_close(pool) == 0);
}

/* A thread that was alone stores in place what it has committed, and does not wait for that: the
 * bytes with shadow, with undo what it allocated. The second log comes in the middle; its barrier
 * waits for it, or the first record would be replayed no more although that has not arrived. */
static sem_t in_middle, go_on, stored;

static unsigned commit_steps, middle; /* the step behind the record's fence */
static bool allocates;

static void stop_in_middle(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT || ++commit_steps != middle)
    return;
  sem_post(&in_middle);
  sem_wait(&go_on);
}

static void let_go_on(void) {
  static bool done;
  if (done)
    return;
  done = true;
  sem_post(&go_on);
  sem_wait(&stored);
}

static void *commit_alone(void *unused) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->far[100], 5);
  if (allocates) {
    CHECK(nvm_alloc(pool, 0, 500) != NULL);
    STORE(root->blocks, 1);
  }
  CHECK(nvm_tx_commit(pool) == 0);
  *acknowledged = 5;
  sem_post(&stored);
  sem_wait(&go_on); /* no fence: a thread's end has one */
  return unused;
}

static void second_log_in_commit(void *cut) {
  begin(cut);
  sem_init(&in_middle, 0, 0), sem_init(&go_on, 0, 0), sem_init(&stored, 0, 0);
  hook_steps(stop_in_middle);
  power_hold(false);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, commit_alone, NULL) == 0);
  sem_wait(&in_middle);
  hook_yield = let_go_on;
  store_seven(NULL);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->word, 8);
  CHECK(nvm_tx_commit(pool) == 0);
  sem_post(&go_on);
  pthread_join(thread, NULL);
  end();
}

static void is_five(const struct root *r) { CHECK(r->far[100] == 5 || !*acknowledged); }

static void verify_five(const char *path) { verify_with(path, is_five); }

TEST_ONCE(power_failure_second_log_in_commit) {
  share_progress();
  middle = 2;
  power_fail_everywhere("shadow", prepare, second_log_in_commit, verify_five);
  middle = 3;
  allocates = true;
  power_fail_everywhere("undo", prepare, second_log_in_commit, verify_five);
}

/* A log that a thread has just made, and no more, is there with both banks once the next one is:
 * its thread has not fenced since, and the slots of the two are not in one line. */
static void *take_log_and_wait(void *unused) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->far[0], 1);
  sem_post(&in_middle);
  sem_wait(&go_on);
  CHECK(nvm_tx_abort(pool) == 0);
  return unused;
}

static void log_behind_a_new_one(void *cut) {
  enum { FIRST = 1, NEXT_LINE = NVM_LINE_SIZE / sizeof(struct nvm_log_slot) };
  begin(cut);
  sem_init(&in_middle, 0, 0), sem_init(&go_on, 0, 0);
  take_log(NULL);
  power_hold(false);
  pthread_t threads[NEXT_LINE];
  for (unsigned i = FIRST; i < NEXT_LINE; i++) {
    CHECK(pthread_create(&threads[i], NULL, take_log_and_wait, NULL) == 0);
    sem_wait(&in_middle);
  }
  in_thread(store_seven);
  CHECK(pool->log_count == NEXT_LINE + 1);
  power_hold(true);
  for (unsigned i = FIRST; i < NEXT_LINE; i++)
    sem_post(&go_on);
  for (unsigned i = FIRST; i < NEXT_LINE; i++)
    pthread_join(threads[i], NULL);
  end();
}

TEST_ONCE(power_failure_log_behind_a_new_one) {
  share_progress();
  power_fail_everywhere("shadow", prepare, log_behind_a_new_one, verify_word);
}

/* What the last commits stored in place is durable before the header calls the logs empty: those of
 * the thread that closes, and of one that still lives. */
static void close_after(const void *cut, bool in_other) {
  begin(cut);
  sem_init(&go_on, 0, in_other ? 0 : 1), sem_init(&stored, 0, 0);
  pthread_t thread;
  if (in_other)
    CHECK(pthread_create(&thread, NULL, commit_alone, NULL) == 0);
  else
    commit_alone(NULL);
  sem_wait(&stored);
  power_hold(false);
  CHECK(nvm_pool_close(pool) == 0);
  power_hold(true);
  if (!in_other)
    return;
  sem_post(&go_on);
  pthread_join(thread, NULL);
}

static void close_after_own(void *cut) { close_after(cut, false); }
static void close_after_other(void *cut) { close_after(cut, true); }

TEST_ONCE(power_failure_in_a_close) {
  share_progress();
  power_fail_everywhere("shadow", prepare, close_after_own, verify_five);
  power_fail_everywhere("shadow", prepare, close_after_other, verify_five);
}
