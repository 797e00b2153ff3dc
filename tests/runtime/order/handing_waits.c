/* handing_waits.c: what happens to a thread that waits in a commit. */
#include "handing.h"

#include <signal.h>

static void *store_and_stay(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(3);
  usleep(LONGER_US);
  all.step = 4;
  commit();
  return unused;
}

static void *commit_behind(void *ended) {
  wait_for(1);
  begin();
  store(0, GAP, all.words[0] + 1);
  all.step = 2;
  int failed = nvm_tx_commit(all.pool);
  *(_Atomic int *)ended = failed ? -1 : 1;
  for (;;)
    pthread_testcancel();
  return NULL;
}

/* A commit that waits is no cancellation point: who is cancelled there has its answer first. */
TEST(handed_to_who_is_cancelled_in_its_commit) {
  prepare();
  _Atomic int ended = 0;
  pthread_t a = start(store_and_stay, NULL), b = start(commit_behind, (void *)&ended);
  wait_for(2);
  usleep(LONGER_US / 8);
  CHECK(pthread_cancel(b) == 0);
  all.step = 3;
  CHECK(pthread_join(b, NULL) == 0 && ended == 1 && all.step == 4);
  CHECK(pthread_join(a, NULL) == 0);
  reopen();
  CHECK(all.words[0] == 1 && all.words[GAP] == 2);
  finish();
}

static void post(int signal) {
  (void)signal;
  sem_post(&all.semaphore);
}

static void *commit_behind_a_post(void *unused) {
  while (sem_wait(&all.semaphore))
    ;
  begin();
  STORE(all.words[2 * GAP], all.words[GAP] + 1);
  commit();
  CHECK(all.step == 4); /* the first had to commit before */
  return unused;
}

/* What a handler releases while its thread waits in a commit is handed on as ever. */
TEST(handed_by_a_handler_in_a_commit) {
  prepare();
  signal(SIGUSR1, post);
  _Atomic int ended = 0;
  pthread_t a = start(store_and_stay, NULL), b = start(commit_behind, (void *)&ended),
            c = start(commit_behind_a_post, NULL);
  wait_for(2);
  usleep(LONGER_US / 8);
  CHECK(pthread_kill(b, SIGUSR1) == 0);
  usleep(LONGER_US / 8);
  all.step = 3;
  CHECK(pthread_join(c, NULL) == 0 && pthread_cancel(b) == 0 && pthread_join(b, NULL) == 0);
  CHECK(ended == 1 && pthread_join(a, NULL) == 0);
  reopen();
  CHECK(all.words[2 * GAP] == 3);
  finish();
}

static void *abort_while_commits_wait(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(3);
  usleep(LONGER_US / 8);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

static void *commit_behind_it(void *unused) {
  wait_for(1);
  begin();
  store(0, GAP, 2);
  all.step = 2;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* Two commits wait, the second for the first, and both for what is aborted. Where the second sees
 * that before the first does, what it stores next has nothing to do with the first. */
TEST(handed_through_a_commit_that_waits) {
  enum { ROUNDS = 8 };
  prepare();
  for (unsigned round = 0; round < ROUNDS; round++) {
    all.step = 0;
    pthread_t a = start(abort_while_commits_wait, NULL), b = start(commit_behind_it, NULL);
    wait_for(2);
    pthread_mutex_lock(&all.lock[0]);
    begin();
    STORE(all.words[GAP], 3);
    all.step = 3;
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
    STORE(all.words[GAP], all.words[GAP] + 5);
    pthread_mutex_unlock(&all.lock[0]);
    begin(); /* would fail if the store had been undone */
    commit();
    CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
    CHECK(all.words[0] == 0 && all.words[GAP] == 5 * (round + 1));
  }
  reopen();
  CHECK(all.words[0] == 0 && all.words[GAP] == 5 * ROUNDS);
  finish();
}

static void *time_out_in_a_condition(void *unused) {
  struct timespec until;
  begin();
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[0], 1);
  all.step = 1;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 2 * LONGER_US * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  CHECK(pthread_cond_timedwait(&all.condition, &all.lock[0], &until) != 0);
  pthread_mutex_unlock(&all.lock[0]);
  commit();
  return unused;
}

/* The mutex of a condition is waited for at the end of that wait, like any other. */
TEST(waits_in_a_cycle_over_a_condition) {
  prepare();
  pthread_t a = start(time_out_in_a_condition, NULL);
  wait_for(1);
  pthread_mutex_lock(&all.lock[0]);
  begin();
  STORE(all.words[GAP], all.words[0] + 1);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EDEADLOCK);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(pthread_join(a, NULL) == 0);
  reopen();
  CHECK(all.words[0] == 1 && all.words[GAP] == 0);
  finish();
}

static void *want_the_second(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(3);
  store(1, GAP, 1);
  commit();
  return unused;
}

static void *hold_it_and_want_the_third(void *unused) {
  begin();
  store(3, 3 * GAP, 1); /* a lock is released: it is known */
  pthread_mutex_lock(&all.lock[1]);
  all.step = 2;
  wait_for(3);
  store(2, 2 * GAP, 1);
  pthread_mutex_unlock(&all.lock[1]);
  commit();
  return unused;
}

/* Who waits for a lock may do so for somebody who waits for another. */
TEST(waits_in_a_cycle_over_two_locks) {
  prepare();
  pthread_t a = start(want_the_second, NULL);
  wait_for(1);
  pthread_t c = start(hold_it_and_want_the_third, NULL);
  wait_for(2);
  begin();
  pthread_mutex_lock(&all.lock[2]);
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[4 * GAP], all.words[0]);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 3;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EDEADLOCK);
  pthread_mutex_unlock(&all.lock[2]);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(c, NULL) == 0);
  reopen();
  CHECK(all.words[0] == 1 && all.words[GAP] == 1 && all.words[2 * GAP] == 1);
  CHECK(all.words[3 * GAP] == 1 && all.words[4 * GAP] == 0);
  finish();
}

enum { HELD = 0, FIRST = 1, SECOND = 2, OUTSIDE = 3 }; /* words, a line apart, and locks */

static void put(unsigned lock, unsigned word, uint64_t value) { store(lock, word * GAP, value); }

static void *depend_on_both(void *unused) {
  (void)unused;
  wait_for(1);
  begin();
  put(HELD, FIRST, 1);
  put(FIRST, FIRST, 2);
  all.step = 2;
  wait_for(3);
  put(SECOND, FIRST, 3);
  all.step = 4;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return NULL;
}

static void *release_outside(void *unused) {
  (void)unused;
  wait_for(2);
  pthread_mutex_lock(&all.lock[FIRST]);
  pthread_mutex_unlock(&all.lock[FIRST]);
  pthread_mutex_lock(&all.lock[SECOND]);
  STORE(all.words[OUTSIDE * GAP], 7);
  all.step = 3;
  usleep(LONGER_US / 8);
  pthread_mutex_unlock(&all.lock[SECOND]);
  CHECK_FAILS(nvm_tx_begin(all.pool) == 0, NVM_EBROKEN);
  CHECK(all.words[OUTSIDE * GAP] == 0);
  return NULL;
}

/* What was stored outside joins the commit of a transaction that is undone: whoever of the two
 * joins, the release tells of it. */
TEST(handed_outside_into_a_commit_that_is_undone) {
  for (unsigned i = 0; i < 8; i++) {
    prepare();
    pthread_t a = start(depend_on_both, NULL), o = start(release_outside, NULL);
    begin();
    put(HELD, HELD, 1);
    all.step = 1;
    wait_for(4);
    usleep(LONGER_US);
    CHECK(nvm_tx_abort(all.pool) == 0);
    CHECK(pthread_join(a, NULL) == 0 && pthread_join(o, NULL) == 0);
    reopen();
    CHECK(!all.words[FIRST * GAP] && !all.words[OUTSIDE * GAP]);
    finish();
  }
}
