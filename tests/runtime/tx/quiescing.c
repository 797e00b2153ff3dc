/* quiescing.c: who stops others, or quiesces a pool: whom it waits for, and what its signals do meanwhile
 * (tx/quiesce.c).
 */
#define _GNU_SOURCE
#include "blocked.h"
#include "core/gate.h"
#include "core/standstill.h"
#include "followers.h"
#include "gc/counts.h"
#include "tx/quiesce.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { PATIENCE = 2000, LOOK_US = 1000, NUMBER = 4711 };

static unsigned barriers;
static void count_barrier(void) { barriers++; }

static void *store_and_stay(void *unused) {
  begin();
  STORE(all.words[FAR], 1);
  commit();
  all.step = 1;
  wait_for(2);
  return unused;
}

/* Who quiesces a pool alone needs no barrier; beside others it does, and fails without. */
TEST(quiescing_takes_a_barrier_for_others) {
  prepare();
  hook_barrier = count_barrier;
  CHECK(nvmi_quiesce(all.pool) == 0 && barriers == 0);
  nvmi_thaw(all.pool);
  hook_barrier = NULL;
  pthread_t other = start(store_and_stay, NULL);
  wait_for(1);
  hook_barrier = count_barrier;
  barriers = 0;
  CHECK(nvmi_quiesce(all.pool) == 0 && barriers == 1);
  nvmi_thaw(all.pool);
  hook_no_barrier = true;
  CHECK_FAILS(nvmi_quiesce(all.pool) == 0, NVM_ESYSTEM);
  hook_no_barrier = false;
  hook_barrier = NULL;
  all.step = 2;
  join(other);
  CHECK(!all.pool->gate && nvm_pool_close(all.pool) == 0);
}

static pthread_t waits;

static void go_on(void) {
  if (pthread_equal(pthread_self(), waits))
    all.step = 3;
}

static void *work(void *unused) {
  begin();
  STORE(all.words[FAR], 1);
  nvmi_self->busy++;
  all.step = 2;
  for (unsigned i = 0; i < PATIENCE && all.step < 3; i++)
    usleep(LOOK_US);
  nvmi_self->busy--;
  commit();
  return unused;
}

/* Who quiesces pauses until nobody is at work. */
TEST(quiescing_pauses_for_who_is_at_work) {
  prepare();
  pthread_t other = start(work, NULL);
  wait_for(2);
  waits = pthread_self();
  hook_yield = go_on;
  bool quiesced = nvmi_quiesce(all.pool) == 0, paused = all.step == 3;
  hook_yield = NULL;
  CHECK(quiesced && paused);
  nvmi_thaw(all.pool);
  join(other);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static bool was_let_go;
static void tell_of_stop(void) { all.step = 2; }

/* As a handler does that waits at the gate and has interrupted who holds the pool's lock. */
static void *lock_and_stand(void *unused) {
  nvmi_lock(&all.pool->lock);
  all.step = 1;
  wait_for(2);
  for (unsigned i = 0; i < PATIENCE && nvmi_all_stand(); i++)
    usleep(LOOK_US);
  was_let_go = !nvmi_all_stand();
  nvmi_unlock(&all.pool->lock);
  return unused;
}

/* Who stops others lets them go on until the lock of a pool is free. */
TEST(quiescing_lets_go_who_has_the_lock) {
  prepare();
  begin();
  STORE(all.words[0], 1);
  pthread_t other = start(lock_and_stand, NULL);
  wait_for(1);
  hook_barrier = tell_of_stop;
  nvmi_stop_others(nvmi_self, UINT64_C(1) << all.pool->index);
  hook_barrier = NULL;
  CHECK(nvmi_all_stand());
  nvmi_let_others(nvmi_self);
  join(other);
  CHECK(was_let_go);
  commit();
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void block(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

/* Signals wait while others stand still; then those do that did before. */
TEST(quiescing_lets_signals_wait) {
  prepare();
  block(SIGUSR2);
  nvmi_stop_others(nvmi_thread_self(), UINT64_C(1) << all.pool->index);
  CHECK(count_blocked() == SIGNALS);
  nvmi_let_others(nvmi_self);
  CHECK(count_blocked() == 1);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static unsigned blocked_in_answer;

/* Instead of a sleep: who asked is done. */
static void take_back(bool wakes) {
  if (wakes)
    return;
  blocked_in_answer = count_blocked();
  nvmi_backup_words(all.pool)->asked = 0;
}

/* As another process does; its lock goes with the file. */
static int ask(void) {
  struct flock byte = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = NVM_BACKUP_BYTE, .l_len = 1};
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &byte) == 0);
  nvmi_backup_words(all.pool)->asked = NUMBER;
  return fd;
}

/* Signals wait while another process is answered, no longer. */
TEST(quiescing_answers_without_signals) {
  prepare();
  int fd = ask();
  block(SIGUSR2);
  hook_futex = take_back;
  begin();
  STORE(all.words[0], 1);
  commit();
  hook_futex = NULL;
  CHECK(blocked_in_answer == SIGNALS && count_blocked() == 1);
  CHECK(close(fd) == 0 && nvm_pool_close(all.pool) == 0);
}

static void *store_once(void *unused) {
  begin();
  STORE(all.words[0], 1);
  commit();
  return unused;
}

/* What another thread was about to answer as the process forked nobody answers in the child: there a pool
 * of the same number is answered for again. */
TEST(quiescing_is_answered_in_a_child) {
  prepare();
  int fd = ask();
  hook_futex = take_back;
  nvmi_lock(&nvmi_locks[NVMI_LOCK_QUIESCE]);
  pthread_t other = start(store_once, NULL);
  usleep(MOMENT); /* it waits to quiesce the pool */
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    unsigned number = all.pool->index;
    nvmi_unlock(&nvmi_locks[NVMI_LOCK_QUIESCE]);
    CHECK(nvm_pool_close(all.pool) == 0);
    all.words = make(&all.pool, "other");
    CHECK(all.pool->index == number);
    nvmi_backup_words(all.pool)->asked = NUMBER;
    store_once(NULL);
    _exit(nvmi_backup_words(all.pool)->asked != 0);
  }
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_QUIESCE]);
  join(other);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  hook_futex = NULL;
  CHECK(close(fd) == 0 && nvm_pool_close(all.pool) == 0);
}

static void *stop_and_stay(void *unused) {
  nvmi_stop_others(nvmi_thread_self(), 0);
  all.step = 1;
  wait_for(2);
  nvmi_let_others(nvmi_self);
  return unused;
}

/* In the child of a handler that interrupted the runtime nobody stands still: who stopped all is not there. */
TEST(quiescing_is_over_in_a_child) {
  prepare();
  begin();
  STORE(all.words[0], 1);
  pthread_t other = start(stop_and_stay, NULL);
  wait_for(1);
  nvmi_self->busy++; /* as a handler that interrupts a note */
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child)
    _exit(nvmi_all_stand());
  nvmi_self->busy--;
  CHECK(nvmi_all_stand());
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  all.step = 2;
  join(other);
  commit();
  CHECK(nvm_pool_close(all.pool) == 0);
}
