/* stopped.c: all others stand still while one undoes what it released (standstill.h, undoing.h).
 * Whoever pauses in a wait lets the other go on: a wait that does not pause, or that is none, is seen.
 */
#include "base/pause.h"
#include "core/gate.h"
#include "core/standstill.h"
#include "followers.h"
#include "gc/counts.h"
#include "log/log.h"
#include "order/order.h"
#include "order/undoing.h"
#include "pool/close_logs.h"
#include "pool/pool.h"
#include "tx/quiesce.h"

#include <string.h>
#include <sys/wait.h>

enum { PATIENCE = 2000, LOOK_US = 1000 };

static pthread_t waits;

/* In each sched_yield. */
static void go_on(void) {
  if (pthread_equal(pthread_self(), waits))
    all.step = 3;
}

/* Until the other pauses, or for long. */
static void await_pause(void) {
  for (unsigned i = 0; i < PATIENCE && all.step < 3; i++)
    usleep(LOOK_US);
}

static void be_at_work(void) {
  nvmi_self->busy++;
  all.step = 2;
  await_pause();
  nvmi_self->busy--;
}

static void *store_and_work(void *unused) {
  begin();
  STORE(all.words[FAR], 1);
  be_at_work();
  commit();
  return unused;
}

/* Runs `beside` up to step 2, then lets it go on where this thread pauses. */
static pthread_t begin_beside(void *(*beside)(void *)) {
  pthread_t thread = start(beside, NULL);
  wait_for(2);
  waits = pthread_self();
  hook_yield = go_on;
  return thread;
}

static void end_beside(pthread_t thread) {
  hook_yield = NULL;
  bool waited = all.step == 3;
  all.step = 4;
  join(thread);
  CHECK(waited);
}

TEST(stopped_is_who_is_at_work) {
  prepare();
  pthread_t other = begin_beside(store_and_work);
  nvmi_stop_others(nvmi_thread_self(), 1);
  nvmi_let_others(nvmi_self);
  end_beside(other);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static struct nvmi_thread *user;

static void *use_open(void *unused) {
  user = nvmi_thread_self();
  waits = pthread_self();
  all.step = 1;
  wait_for(2);
  nvmi_uses_open(user);
  CHECK(all.step == 4 && user->uses_open == 1);
  nvmi_uses_open(user);
  CHECK(user->uses_open == 2);
  nvmi_used_open(user);
  nvmi_used_open(user);
  CHECK(!user->uses_open);
  return unused;
}

/* Who ends what it has open begins with that when the others may go on, and is none of them meanwhile. */
TEST(stopped_who_is_about_to_end_what_is_open) {
  prepare();
  pthread_t other = start(use_open, NULL);
  wait_for(1);
  nvmi_stop_others(nvmi_thread_self(), 1);
  hook_yield = go_on;
  all.step = 2;
  await_pause();
  bool waited = all.step == 3 && !user->uses_open;
  hook_yield = NULL;
  all.step = 4;
  nvmi_let_others(nvmi_self);
  join(other);
  CHECK(waited && nvm_pool_close(all.pool) == 0);
}

static void *hold_the_order(void *unused) {
  nvmi_order_lock();
  all.step = 2;
  await_pause();
  nvmi_order_unlock();
  return unused;
}

static void *read_and_work(void *unused) {
  begin();
  read_under(&all.lock);
  be_at_work();
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

static void *store_elsewhere_and_work(void *unused) {
  begin();
  read_under(&all.lock);
  STORE(all.words2[0], 1);
  be_at_work();
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* Those that follow stand still wherever they are, and who undoes has the order's mutex. */
TEST(stopped_are_followers_in_all_pools) {
  static void *(*const beside[])(void *) = {hold_the_order, read_and_work,
                                            store_elsewhere_and_work};
  prepare();
  all.words2 = make(&all.second, "second");
  for (unsigned i = 0; i < 3; i++) {
    all.step = 0;
    begin();
    store_and_release(1);
    pthread_t other = begin_beside(beside[i]);
    nvmi_undoing_stop(nvmi_self, UINT64_C(1) << all.pool->index);
    nvmi_undoing_end(nvmi_self);
    end_beside(other);
    CHECK(nvm_tx_abort(all.pool) == 0);
  }
  CHECK(nvm_pool_close(all.second) == 0 && nvm_pool_close(all.pool) == 0);
}

static void *store_beside(void *unused) {
  begin();
  waits = pthread_self();
  hook_yield = go_on;
  all.step = 2;
  STORE(all.words[FAR], 1);
  commit();
  return unused;
}

/* Who waits at a gate leaves the processor to others. */
TEST(stopped_threads_pause) {
  prepare();
  nvmi_stop_others(nvmi_thread_self(), 1);
  pthread_t other = start(store_beside, NULL);
  await_pause();
  bool paused = all.step == 3;
  nvmi_let_others(nvmi_self);
  join(other);
  hook_yield = NULL;
  CHECK(paused && nvm_pool_close(all.pool) == 0);
}

static void *follow_and_stay(void *unused) {
  begin();
  store_and_release(2);
  all.step = 2;
  await_pause();
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* An abort leaves the processor to those that follow it. */
TEST(stopped_is_an_abort_for_its_followers) {
  prepare();
  begin();
  store_and_release(1);
  pthread_t other = begin_beside(follow_and_stay);
  CHECK(nvm_tx_abort(all.pool) == 0);
  end_beside(other);
  CHECK(all.words[0] == 0 && nvm_pool_close(all.pool) == 0);
}

static void *lock_and_look(void *unused) {
  waits = pthread_self();
  hook_yield = go_on;
  pthread_mutex_lock(&all.lock);
  CHECK(all.words[0] == 0);
  pthread_mutex_unlock(&all.lock);
  return unused;
}

/* Who takes a lock whose holder is being undone waits until that is over. */
TEST(stopped_is_who_takes_a_lock_of_one_undone) {
  prepare();
  begin();
  store_and_release(1);
  nvmi_order_close(nvmi_self, false);
  pthread_t other = start(lock_and_look, NULL);
  await_pause();
  bool waited = all.step == 3;
  CHECK(nvm_tx_abort(all.pool) == 0);
  join(other);
  hook_yield = NULL;
  CHECK(waited && nvm_pool_close(all.pool) == 0);
}

static void *commit_beside(void *unused) {
  begin();
  store_and_release(1);
  all.step = 1;
  wait_for(2);
  commit();
  all.step = 3;
  return unused;
}

/* One that may commit in its turn does not while others stand still. */
TEST(stopped_are_commits_in_their_turn) {
  prepare();
  pthread_t other = start(commit_beside, NULL);
  wait_for(1);
  nvmi_stop_others(nvmi_thread_self(), 1);
  all.step = 2;
  usleep(MOMENT);
  bool stood = all.step == 2;
  nvmi_let_others(nvmi_self);
  join(other);
  CHECK(stood && all.step == 3 && nvm_pool_close(all.pool) == 0);
}

static void abort_without_barrier(void *unused) {
  (void)unused;
  prepare();
  begin();
  store_and_release(1);
  hook_no_barrier = true;
  nvm_tx_abort(all.pool);
}

TEST(stopped_only_by_a_barrier) {
  char said[400];
  int status = test_child_says(abort_without_barrier, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, "membarrier"));
}

/* A child of fork has no other threads that stand, or that could let it go on. */
TEST(stopped_is_no_child) {
  prepare();
  nvmi_slow.stopped = true;
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child)
    _exit(nvmi_slow.stopped);
  nvmi_slow.stopped = false;
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* While a pool is quiesced nobody counts its references. */
TEST(stopped_is_who_counts) {
  prepare();
  CHECK(nvm_pool_count_references(all.pool) == 0 && nvmi_quiesce(all.pool) == 0);
  CHECK(!nvmi_try_lock(&all.pool->counts->count));
  nvmi_thaw(all.pool);
  CHECK(nvmi_try_lock(&all.pool->counts->count));
  nvmi_unlock(&all.pool->counts->count);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static unsigned barriers;
static void count_barrier(void) { barriers++; }

/* A commit that depends on nobody stops nobody. */
TEST(stopped_is_nobody_by_a_commit) {
  prepare();
  begin();
  store_and_release(1);
  hook_barrier = count_barrier;
  commit();
  hook_barrier = NULL;
  CHECK(barriers == 0 && nvm_pool_close(all.pool) == 0);
}

static struct nvmi_thread *idle;
static bool had_log;

static void look_at_idle(void) {
  if (!barriers++)
    had_log = idle->logs[all.pool->index];
}

static void *commit_and_stay(void *unused) {
  begin();
  STORE(all.words[0], 1);
  commit();
  idle = nvmi_self;
  all.step = 1;
  wait_for(2);
  return unused;
}

/* What an idle thread has stored in place comes to the media before its log is taken away. */
TEST(stopped_is_who_loses_its_log) {
  prepare();
  pthread_t other = start(commit_and_stay, NULL);
  wait_for(1);
  hook_barrier = look_at_idle;
  CHECK(nvmi_logs_await_rest(all.pool) == 0 && idle->logs[all.pool->index]);
  CHECK(nvmi_logs_take(all.pool) == 0);
  hook_barrier = NULL;
  CHECK(had_log && !idle->logs[all.pool->index]);
  all.step = 2;
  join(other);
  CHECK(nvm_pool_close(all.pool) == 0);
}
