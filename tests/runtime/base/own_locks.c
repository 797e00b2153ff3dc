/* own_locks.c: signals wait while a thread has a lock of the runtime that a handler might want, too. */
#include "base/own_locks.h"
#include "core/thread.h"
#include "harness.h"

#include <signal.h>

static volatile int came;

static void come(int number) {
  (void)number;
  came++;
}

/* Whether a signal waits until the lock is free. */
static bool waits_under(struct nvmi_mutex *lock) {
  came = 0;
  nvmi_lock(lock);
  CHECK(raise(SIGUSR1) == 0);
  bool waits = !came;
  nvmi_unlock(lock);
  CHECK(came == 1);
  return waits;
}

TEST_ONCE(own_locks_let_signals_wait) {
  signal(SIGUSR1, come);
  struct nvmi_thread *thread = nvmi_thread_self();
  for (unsigned rank = 0; rank < NVMI_RANKS; rank++)
    CHECK(waits_under(&nvmi_locks[rank]) == (rank >= NVMI_LOCK_QUIESCE && rank != NVMI_LOCK_ORDER));
  thread->busy = 1;
  for (unsigned rank = 0; rank < NVMI_RANKS; rank++)
    CHECK(waits_under(&nvmi_locks[rank]) == (rank >= NVMI_LOCK_HEAP && rank <= NVMI_LOCK_SYNC));
  thread->busy = 0;
}

/* The first one is free before the second one is. */
TEST_ONCE(own_locks_let_signals_wait_for_the_last) {
  struct nvmi_mutex *outer = &nvmi_locks[NVMI_LOCK_POOL], *inner = &nvmi_locks[NVMI_LOCK_HEAP];
  signal(SIGUSR1, come);
  came = 0;
  nvmi_lock(&nvmi_locks[NVMI_LOCK_ORDER]);
  nvmi_lock(outer);
  nvmi_lock(inner);
  CHECK(raise(SIGUSR1) == 0);
  nvmi_unlock(outer);
  CHECK(!came);
  nvmi_unlock(inner);
  CHECK(came == 1);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_ORDER]);
}

static void *try_it(void *lock) {
  sigset_t none;
  came = 0;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL); /* whoever made this thread has the lock */
  CHECK(!nvmi_try_lock(lock) && raise(SIGUSR1) == 0 && came == 1);
  return NULL;
}

TEST_ONCE(own_locks_that_others_have_let_signals_come) {
  pthread_t other;
  signal(SIGUSR1, come);
  nvmi_lock(&nvmi_locks[NVMI_LOCK_POOL]);
  CHECK(pthread_create(&other, NULL, try_it, &nvmi_locks[NVMI_LOCK_POOL]) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_POOL]);
}
