/* depending.c: what goes from a transaction to the thread's next one, and what waits for a thread that has
 * only read (order/order.c, order/kept_blocks.c).
 */
#define _GNU_SOURCE
#include "core/gate.h"
#include "core/standstill.h"
#include "handing.h"
#include "hooks.h"
#include "order/kept_blocks.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"
#include "tx/quiesce.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { MANY = 1000 /* more than a thread keeps for itself */ };

static void *store_and_abort_later(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  usleep(LONGER_US);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* A lock that is held outlives the transaction: what it guards may be read in the next. */
TEST(depending_goes_on_in_the_next_transaction) {
  prepare();
  pthread_t a = start(store_and_abort_later, NULL);
  wait_for(1);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  CHECK(nvm_tx_abort(all.pool) == 0);
  begin();
  STORE(all.words[GAP], all.words[0]);
  all.step = 2;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(pthread_join(a, NULL) == 0 && all.words[GAP] == 0);
  finish();
}

static void *read_and_end(void *commits) {
  wait_for(1);
  if (commits)
    begin();
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 2;
  wait_for(3);
  if (!commits)
    return NULL;
  commit();
  all.step = 4;
  wait_for(5); /* its end would give the rest back */
  return NULL;
}

/* Allocates a block, releases the lock and is undone, while another has read what it guards. */
static void *undo_beside_reader(pthread_t *reader, void *commits) {
  *reader = start(read_and_end, commits);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  void *block = nvm_alloc(all.pool, 0, 64);
  STORE(all.words[0], (uint64_t)(uintptr_t)block);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return block;
}

static bool is_free(const void *block) {
  bool found = false;
  begin();
  for (unsigned i = 0; i < MANY && !found; i++)
    found = nvm_alloc(all.pool, 0, 64) == block;
  CHECK(nvm_tx_abort(all.pool) == 0);
  return found;
}

/* A thread that ends gives back what nobody but it could have known, whatever it was doing. */
TEST(depending_ends_with_the_thread) {
  pthread_t reader;
  prepare();
  void *block = undo_beside_reader(&reader, NULL);
  CHECK(!is_free(block));
  all.step = 3;
  CHECK(pthread_join(reader, NULL) == 0 && is_free(block));
  finish();
}

/* Another pool that is closed meanwhile has nothing to do with it. */
TEST(depending_is_on_one_pool) {
  pthread_t reader;
  prepare();
  NVM_POOL *other = test_create(test_path("other"), 2 << 20);
  void *block = undo_beside_reader(&reader, &all);
  CHECK(nvm_pool_close(other) == 0 && !is_free(block));
  all.step = 3;
  wait_for(4);
  CHECK(nvmi_blocks_closing(all.pool) == 0); /* none is kept any more: the reader has it */
  all.step = 5;
  CHECK(pthread_join(reader, NULL) == 0 && is_free(block));
  finish();
}

/* A child of fork keeps none of its parent's. */
TEST(depending_is_not_a_childs) {
  pthread_t reader;
  prepare();
  undo_beside_reader(&reader, &all);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child)
    _exit(nvmi_blocks_closing(all.pool) != 0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  all.step = 3;
  wait_for(4);
  all.step = 5;
  CHECK(pthread_join(reader, NULL) == 0);
  finish();
}

static pthread_t giver;

/* In a thread that waits while this one makes all others stand still. */
static void say_that_it_waits(void) {
  if (pthread_equal(pthread_self(), giver))
    all.step = 4;
}

static void *read_and_give_back(void *unused) {
  begin();
  STORE(all.words[GAP], 1);
  commit();
  wait_for(1);
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 2;
  while (all.step < 3)
    usleep(100); /* no yield */
  return unused; /* its end gives the block back */
}

/* Takes the alarm: who stops others takes no signals. */
static void *stand_by(void *unused) {
  while (all.step < 5)
    usleep(1000);
  return unused;
}

static bool has_ended(pthread_t thread) { return pthread_tryjoin_np(thread, NULL) == 0; }

/* Who gives blocks back waits while all others stand still. */
TEST(depending_gives_back_at_work) {
  prepare();
  giver = start(read_and_give_back, NULL);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  void *block = nvm_alloc(all.pool, 0, 64);
  STORE(all.words[0], (uint64_t)(uintptr_t)block);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  pthread_t idle = start(stand_by, NULL);
  alarm(5);
  nvmi_stop_others(nvmi_self, 1);
  hook_yield = say_that_it_waits;
  all.step = 3;
  while (all.step < 4 && !has_ended(giver))
    usleep(100);
  CHECK(all.step == 4 && !has_ended(giver));
  nvmi_let_others(nvmi_self);
  hook_yield = NULL;
  CHECK(pthread_join(giver, NULL) == 0 && is_free(block));
  all.step = 5;
  CHECK(pthread_join(idle, NULL) == 0);
  finish();
}

static void give_back_without_log(void *unused) {
  pthread_t reader;
  prepare();
  (void)unused;
  undo_beside_reader(&reader, &all);
  hook_no_barrier = true; /* so no thread gets a log */
  all.step = 3;
  pthread_join(reader, NULL);
}

static void adopt_without_log(void *unused) {
  (void)unused;
  prepare();
  begin();
  store(0, 0, 1);
  nvmi_order_lock();
  nvmi_join_pack(nvmi_self, &nvmi_self->node->parcels);
  nvmi_order_unlock();
  nvmi_self->logs[all.pool->index] = NULL;
  hook_no_barrier = true;
  nvmi_join_unpack(nvmi_self);
}

static void check_says(void (*body)(void *), const char *what) {
  char said[1000];
  int status = test_child_says(body, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, what));
}

/* Who needs a log in order to do what nobody else can, and gets none, says so. */
TEST(depending_without_a_log_ends_the_process) {
  check_says(give_back_without_log, "no log for blocks that become free");
  unlink(test_path("pool"));
  check_says(adopt_without_log, "no log for what joined a transaction");
}

static void *hold_up(void *milliseconds) {
  begin();
  store(0, 0, 1);
  fprintf(stderr, "id %ld\n", (long)gettid());
  all.step = 1;
  wait_for(2);
  usleep(*(unsigned *)milliseconds * 1000);
  commit();
  return NULL;
}

static void wait_short_and_long(void *unused) {
  unsigned milliseconds[] = {1, 1500};
  (void)unused;
  prepare();
  for (unsigned i = 0; i < 2; i++) {
    all.step = 0;
    pthread_t a = start(hold_up, &milliseconds[i]);
    wait_for(1);
    begin();
    store(0, GAP, all.words[0]);
    all.step = 2;
    commit();
    CHECK(pthread_join(a, NULL) == 0);
  }
  finish();
}

/* A commit that waits for long says once for whom. */
TEST_ONCE(depending_for_long_is_told_once) {
  char said[2000], expected[60];
  const char *id, *told;
  CHECK(test_child_says(wait_short_and_long, NULL, said, sizeof said) == 0);
  CHECK((id = strstr(said, "id ")) && (id = strstr(id + 1, "id ")));
  snprintf(expected, sizeof expected, " waits for thread %ld:", strtol(id + 3, NULL, 10));
  CHECK((told = strstr(said, expected)) && told == strstr(said, " waits for thread "));
  CHECK(!strstr(told + 1, " waits for thread "));
}
