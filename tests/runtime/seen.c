/* seen.c: what the runtime keeps of a thread's locks, and for how long (locks.c, order.c). */
#include "core/held.h"
#include "handing.h"
#include "hooks.h"
#include "order/order.h"
#include "order/order_turn.h"
#include "order/ticket.h"

#include <errno.h>
#include <signal.h>

static unsigned looked_up;

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
/* ThreadSanitizer looks up functions before it is set up. */
__attribute__((disable_sanitizer_instrumentation)) void *__wrap_dlsym(void *library,
                                                                      const char *name) {
  looked_up++;
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
  CHECK(nvmi_self->ticket);
  all.step = 2;
  CHECK(pthread_join(a, NULL) == 0);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(!nvmi_self->ticket);
  finish();
}

static void *lock_at_its_end(void *unused) {
  nvmi_order_leave(nvmi_thread_self());
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(!nvmi_self->ticket);
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
  yields++;
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
  hook_yield = go_on;
  CHECK(nvmi_order_turn_soon(nvmi_self) == NVMI_TURN_COMMIT);
  hook_yield = NULL;
  CHECK(yields == 1 && ends && !nvmi_self->ends);
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
