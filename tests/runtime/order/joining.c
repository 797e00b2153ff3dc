/* joining.c: what a thread whose commit has joined another's still depends on, and who depends on it
 * (order/commit_wait.c). Threads take turns by a number of steps; hook_yield is where they wait.
 */
#include "handing.h"
#include "hooks.h"

#include <signal.h>

enum { FIRST = 0, SECOND = 1, THIRD = 2, FOURTH = 3 }; /* locks, and words, a line apart */

static pthread_t joined, joins;

static void put(unsigned lock, unsigned word, uint64_t value) { store(lock, word * GAP, value); }

/* The one that is joined stands still from its first pause until the other has joined it. */
static void stand(void) {
  if (pthread_equal(pthread_self(), joined) && all.step < 5) {
    all.step = 5;
    while (all.step < 6)
      usleep(100);
  }
  if (pthread_equal(pthread_self(), joins) && all.step == 5)
    all.step = 6;
}

/* Depends on whoever released the second lock, and on the one that joins it. */
static void *be_joined(void *committed) {
  wait_for(2);
  begin();
  put(SECOND, 10, 1);
  put(THIRD, 11, 1);
  all.step = 3;
  wait_for(4);
  put(FOURTH, 12, 1);
  joined = pthread_self();
  hook_yield = stand;
  if (*(bool *)committed)
    commit();
  else
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return NULL;
}

static void *release_and_abort_last(void *unused) {
  begin();
  put(FIRST, 0, 1);
  all.step = 1;
  wait_for(7);
  usleep(LONGER_US);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

static void *release_and_abort(void *unused) {
  wait_for(1);
  begin();
  put(SECOND, 1, 1);
  all.step = 2;
  wait_for(6);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* Up to the moment when it would wait. */
static void store_and_join(void) {
  wait_for(3);
  put(THIRD, 20, 1);
  put(FOURTH, 21, 1);
  all.step = 4;
  wait_for(5);
  joins = pthread_self(); /* only now: to wait for a step is no wait of its commit */
}

/* It holds a lock that still guards what a third has not committed. */
TEST(joining_leaves_what_else_it_depends_on) {
  bool committed = false;
  prepare();
  pthread_t x = start(release_and_abort_last, NULL), a = start(release_and_abort, NULL),
            i = start(be_joined, &committed);
  wait_for(1);
  begin();
  pthread_mutex_lock(&all.lock[FIRST]);
  store_and_join();
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  CHECK(all.step == 6);
  begin();
  STORE(all.words[22 * GAP], all.words[0]);
  all.step = 7;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  pthread_mutex_unlock(&all.lock[FIRST]);
  hook_yield = NULL;
  CHECK(pthread_join(x, NULL) == 0 && pthread_join(a, NULL) == 0 && pthread_join(i, NULL) == 0);
  CHECK(!all.words[0] && !all.words[20 * GAP] && !all.words[22 * GAP]);
  finish();
}

static bool stores; /* the handler does, too */

static void post(int signal) {
  (void)signal;
  if (stores)
    STORE(all.words[30 * GAP], 1);
  sem_post(&all.semaphore);
}

/* Follows the thread that has joined, by a handler's post, and is followed by the one it joined. */
static void *close_the_cycle(void *unused) {
  begin();
  put(SECOND, 1, 1);
  all.step = 2;
  wait_for(6);
  CHECK(pthread_kill(joins, SIGUSR1) == 0);
  while (sem_wait(&all.semaphore))
    ;
  STORE(all.words[2 * GAP], 1);
  if (stores)
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EDEADLOCK);
  else
    commit();
  return unused;
}

static void close_by_a_handler(bool and_stores) {
  bool committed = !and_stores;
  stores = and_stores;
  prepare();
  alarm(20);
  signal(SIGUSR1, post);
  pthread_t c = start(close_the_cycle, NULL), i = start(be_joined, &committed);
  begin();
  store_and_join();
  if (committed)
    commit();
  else
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  hook_yield = NULL;
  CHECK(pthread_join(c, NULL) == 0 && pthread_join(i, NULL) == 0);
  __nvm_commit_point();
  reopen();
  for (unsigned word = 1; word < 22; word++)
    CHECK(!all.words[word * GAP] || committed);
  CHECK(!committed || (all.words[GAP] && all.words[2 * GAP] && all.words[21 * GAP]));
  CHECK(!all.words[30 * GAP]); /* built on what was undone */
  finish();
}

/* A handler hands something on while its thread waits for what it has joined: what it hands on is
 * that one's, and the cycle of three commits as one. */
TEST(joining_by_a_handler_closes_a_cycle) { close_by_a_handler(false); }

/* What the handler stores is committed only behind that wait: who needs it before is told. */
TEST(joining_by_a_handler_that_stores_cannot_end) { close_by_a_handler(true); }
