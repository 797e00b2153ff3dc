/* seen.c: what the runtime keeps of a thread's locks, and for how long (locks.c, order.c). */
#define _GNU_SOURCE
#include "core/held.h"
#include "handing.h"
#include "hooks.h"
#include "order/commit_wait.h"
#include "order/node.h"
#include "order/order.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE = 20000, LOOK_US = 100 };

static unsigned looked_up;
static bool are_missing;

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
/* ThreadSanitizer looks up functions before it is set up. */
__attribute__((disable_sanitizer_instrumentation)) void *__wrap_dlsym(void *library,
                                                                      const char *name) {
  looked_up++;
  if (are_missing)
    return NULL;
  return __real_dlsym(library, name);
}

/* Who has a pool looks up nothing where it locks: the loader's lock may be held there. */
TEST_ONCE(seen_are_locks_without_the_loader) {
  prepare();
  looked_up = 0;
  pthread_mutex_lock(&all.lock[0]);
  CHECK(pthread_mutex_trylock(&all.lock[1]) == 0);
  pthread_mutex_unlock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[1]);
  CHECK(sem_post(&all.semaphore) == 0 && looked_up == 0);
  finish();
}

static void wait_by_a_clock(void *unused) {
  struct timespec never = {0};
  (void)unused;
  sem_init(&all.semaphore, 0, 1);
  are_missing = true;
  sem_clockwait(&all.semaphore, CLOCK_MONOTONIC, &never);
}

/* A C library without one of the functions is told of by that one's name. */
TEST_ONCE(seen_are_functions_that_are_missing) {
  char said[400];
  int status = test_child_says(wait_by_a_clock, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
        strstr(said, "the C library has no sem_clockwait;"));
}

static unsigned held(void) { return nvmi_held_count(&nvmi_held); }

static void *try_in_vain(void *unused) {
  CHECK(held() == 0);
  CHECK(pthread_mutex_trylock(&all.lock[1]) == EBUSY && held() == 0);
  return unused;
}

TEST_ONCE(seen_is_what_a_thread_holds) {
  prepare();
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_lock(&all.lock[1]);
  CHECK(held() == 2);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(held() == 1 && nvmi_held_lock(&nvmi_held, 0) == (uintptr_t)&all.lock[1]);
  CHECK(pthread_join(start(try_in_vain, NULL), NULL) == 0);
  pthread_mutex_unlock(&all.lock[1]);
  CHECK(held() == 0);
  finish();
}

/* Nobody notes what a lock in a pool changes, also where it is only released. */
TEST(seen_are_semaphores_in_a_pool) {
  prepare();
  begin();
  sem_t *in_pool = nvm_calloc(all.pool, 0, 1, sizeof *in_pool);
  CHECK(in_pool && sem_init(in_pool, 0, 0) == 0 && !all.pool->stores_unnoted);
  CHECK(sem_post(in_pool) == 0 && all.pool->stores_unnoted);
  commit();
  finish();
}

static void post(int signal) {
  (void)signal;
  sem_post(&all.semaphore);
}

/* What handlers post while their thread hands on a lock is posted behind it. */
TEST(seen_are_posts_of_handlers) {
  int value;
  prepare();
  begin();
  store(0, 0, 1);
  signal(SIGUSR1, post);
  nvmi_order_lock();
  raise(SIGUSR1);
  raise(SIGUSR1);
  CHECK(sem_getvalue(&all.semaphore, &value) == 0 && value == 0);
  nvmi_order_unlock();
  CHECK(sem_getvalue(&all.semaphore, &value) == 0 && value == 2 && !nvmi_self->posts_count);
  commit();
  finish();
}

static void *store_and_commit(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  commit();
  all.step = 3;
  return unused;
}

/* Who has only read, and what it read is committed, has nothing to do with others any more. */
TEST(seen_is_no_reader_of_what_has_ended) {
  prepare();
  pthread_t a = start(store_and_commit, NULL);
  wait_for(1);
  pthread_mutex_lock(&all.lock[0]);
  CHECK(nvmi_self->node);
  all.step = 2;
  CHECK(pthread_join(a, NULL) == 0);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(!nvmi_self->node);
  finish();
}

static void *lock_at_its_end(void *unused) {
  nvmi_order_leave(nvmi_thread_self());
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(!nvmi_self->node);
  return unused;
}

/* A thread that ends, and locks in the last of its destructors, has nothing to do with them, either. */
TEST(seen_is_no_thread_that_ends) {
  prepare();
  begin();
  store(0, 0, 1);
  CHECK(pthread_join(start(lock_at_its_end, NULL), NULL) == 0);
  commit();
  finish();
}

static pthread_t waits;
static unsigned yields;
static bool ends;

static void go_on(void) {
  if (!pthread_equal(pthread_self(), waits))
    return;
  if (yields++)
    return; /* the other has committed, and is about to say so */
  ends = nvmi_self->ends;
  all.step = 2;
  while (all.step < 3)
    usleep(100);
}

/* A handler that comes in a wait finds that its thread ends a transaction; behind the wait, that it
 * does not. The wait's own time begins with it. */
TEST(seen_is_a_wait_while_it_lasts) {
  prepare();
  pthread_t a = start(store_and_commit, NULL);
  wait_for(1);
  pthread_mutex_lock(&all.lock[0]);
  waits = pthread_self();
  yields = 0;
  hook_yield = go_on;
  CHECK(nvmi_commit_wait_soon(nvmi_self) == NVMI_WAITED_COMMIT);
  hook_yield = NULL;
  CHECK(yields && ends && !nvmi_self->ends);
  nvmi_order_ended(nvmi_self, true);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(pthread_join(a, NULL) == 0);
  finish();
}

static void count_yield(void) { yields++; }

/* An abort that nobody depends on waits for nobody, and lets signals through again. */
TEST(seen_is_an_abort_without_dependents) {
  sigset_t blocked;
  prepare();
  begin();
  store(0, 0, 1);
  yields = 0;
  hook_yield = count_yield;
  CHECK(nvm_tx_abort(all.pool) == 0);
  hook_yield = NULL;
  CHECK(yields == 0 && all.words[0] == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGUSR1));
  finish();
}

static unsigned commits, locked;

static void look_at_lock(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT)
    return;
  commits++;
  locked += pthread_mutex_trylock(&all.lock[0]) == EBUSY;
}

/* What is stored outside transactions is committed while the lock is held, where nothing is waited for:
 * nobody sees it before. */
TEST(seen_is_a_commit_before_its_release) {
  prepare();
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[0], 1);
  hook_steps(look_at_lock);
  pthread_mutex_unlock(&all.lock[0]);
  hook_steps(NULL);
  CHECK(commits && locked == commits && !nvmi_self->touched && !nvmi_self->node);
  finish();
}

static struct nvmi_held *waiter;

static void *wait_for_a_condition(void *unused) {
  wait_for(1);
  waiter = &nvmi_held;
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[GAP], all.words[0]);
  all.step = 2;
  CHECK(pthread_cond_wait(&all.condition, &all.lock[0]) == 0);
  CHECK(held() == 1 && pthread_mutex_trylock(&all.lock[0]) == EBUSY);
  CHECK(!nvmi_self->touched);
  pthread_mutex_unlock(&all.lock[0]);
  return unused;
}

static void *store_and_commit_at_3(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(3);
  commit();
  return unused;
}

/* A wait for a condition that commits in its place comes back with the mutex, and is seen to want it. */
TEST(seen_is_a_mutex_behind_a_wait) {
  prepare();
  pthread_t a = start(store_and_commit_at_3, NULL), b = start(wait_for_a_condition, NULL);
  wait_for(2);
  pthread_mutex_lock(&all.lock[0]);
  all.step = 3;
  uintptr_t wanted = 0;
  for (unsigned i = 0; i < PATIENCE && !wanted; i++) {
    usleep(LOOK_US);
    wanted = waiter->wants;
  }
  CHECK(wanted == (uintptr_t)&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
  finish();
}

/* That something could not end at a wait is over with its transaction. */
TEST(seen_is_what_stays_open_until_it_ends) {
  prepare();
  nvmi_thread_self()->stays_open = true;
  begin();
  store(0, 0, 1);
  commit();
  CHECK(!nvmi_self->stays_open);
  finish();
}
