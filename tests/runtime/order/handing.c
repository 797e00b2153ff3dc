/* handing.c: what a lock hands on from one open transaction to another, until all have ended:
 * bytes, blocks, the order of commits. Threads take turns by a number of steps.
 */
#include "handing.h"
#include "order/node.h"
#include "order/order.h"

#include <signal.h>
#include <sys/time.h>

struct handing all;

static void *store_and_abort(void *unused) {
  begin();
  store(0, 0, 1);
  store(1, GAP, 1);
  all.step = 1;
  wait_for(3);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* What the abort waits for. */
static void *take_over_and_stay(void *unused) {
  wait_for(1);
  begin();
  store(1, GAP, 2);
  all.step = 2;
  usleep(LONGER_US);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* A transaction that was undone with another's begins again while that one is still being undone.
 */
TEST(handed_bytes_are_taken_back_before_a_retry) {
  prepare();
  pthread_t a = start(store_and_abort, NULL), c = start(take_over_and_stay, NULL);
  wait_for(2);
  pthread_mutex_lock(&all.lock[0]);
  begin();
  STORE(all.words[0], 2);
  all.step = 3;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  begin();
  STORE(all.words[0], 5);
  commit();
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(c, NULL) == 0);
  CHECK(all.words[0] == 5 && all.words[GAP] == 0);
  reopen();
  CHECK(all.words[0] == 5 && all.words[GAP] == 0);
  finish();
}

/* The same of a thread that acquires the lock only then; or before, and becomes a dependent. */
TEST(handed_bytes_are_taken_back_before_a_lock_is_had) {
  prepare();
  pthread_t a = start(store_and_abort, NULL), c = start(take_over_and_stay, NULL);
  wait_for(2);
  all.step = 3;
  usleep(LONGER_US / 8);
  pthread_mutex_lock(&all.lock[0]);
  do {
    begin();
    STORE(all.words[0], all.words[0] + 5);
  } while (nvm_tx_commit(all.pool) != 0);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(c, NULL) == 0);
  reopen();
  CHECK(all.words[0] == 5);
  finish();
}

static void *write_through(void *late) {
  wait_for(1);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  uint64_t *block = (uint64_t *)(uintptr_t)all.words[0];
  all.step = 2;
  wait_for(late ? 4 : 3);
  for (unsigned i = 0; i < 8; i++)
    STORE(block[i], 100 + i);
  all.step = late ? 5 : 4;
  wait_for(6);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  pthread_mutex_unlock(&all.lock[0]);
  return NULL;
}

/* Nobody gets a block that a dependent of an aborted transaction still writes to. */
TEST(handed_blocks_wait_for_dependents) {
  for (int late = 0; late < 2; late++) {
    prepare();
    pthread_t b = start(write_through, late ? &late : NULL);
    begin();
    pthread_mutex_lock(&all.lock[0]);
    void *block = nvm_alloc(all.pool, 0, 64);
    STORE(all.words[0], (uint64_t)(uintptr_t)block);
    pthread_mutex_unlock(&all.lock[0]);
    all.step = 1;
    wait_for(2);
    CHECK(nvm_tx_abort(all.pool) == 0);
    begin();
    uint64_t *mine = nvm_alloc(all.pool, 0, 64);
    CHECK(mine && mine != block);
    STORE(all.words[GAP], (uint64_t)(uintptr_t)mine);
    all.step = 3;
    if (!late)
      wait_for(4);
    for (unsigned i = 0; i < 8; i++)
      STORE(mine[i], 7);
    if (late) {
      all.step = 4;
      wait_for(5);
    }
    commit();
    all.step = 6;
    CHECK(pthread_join(b, NULL) == 0);
    begin(); /* now it is free */
    CHECK(nvm_alloc(all.pool, 0, 64) == block && nvm_tx_abort(all.pool) == 0);
    for (unsigned i = 0; i < 8; i++)
      CHECK(mine[i] == 7);
    finish();
  }
}

static void has_it_again(void *lock) {
  CHECK(all.words[0] == 1 && nvmi_self && nvmi_self->node);
  pthread_mutex_unlock(lock);
}

static void *read_when_cancelled(void *unused) {
  pthread_mutex_lock(&all.lock[0]);
  pthread_cleanup_push(has_it_again, &all.lock[0]);
  all.step = 1;
  for (;;)
    pthread_cond_wait(&all.condition, &all.lock[0]);
  pthread_cleanup_pop(0);
  return unused;
}

/* Who is cancelled in a wait has the mutex again, and what it guards. */
TEST(handed_to_a_cancelled_waiter) {
  prepare();
  pthread_t b = start(read_when_cancelled, NULL);
  wait_for(1);
  begin();
  store(0, 0, 1);
  CHECK(pthread_cancel(b) == 0 && pthread_join(b, NULL) == 0);
  commit();
  finish();
}

static bool count_node(struct nvmi_node *node, void *count) {
  (void)node;
  ++*(unsigned *)count;
  return false;
}

static unsigned count_nodes(void) {
  unsigned count = 0;
  nvmi_order_lock();
  nvmi_node_find(count_node, &count);
  nvmi_order_unlock();
  return count;
}

/* Each begins its next transaction before the other has ended. */
static void *take_turns(void *number) {
  unsigned own = (unsigned)(uintptr_t)number;
  for (unsigned i = 0; i < TURNS; i++) {
    begin();
    wait_for(2 * i + own);
    store(0, 0, all.words[0] + 1);
    CHECK(count_nodes() < 16);
    all.step++;
    if (!own || i + 1 < TURNS)
      wait_for(2 * i + own + 2);
    commit();
  }
  return NULL;
}

TEST(handed_back_and_forth_leaves_nothing) {
  prepare();
  pthread_t a = start(take_turns, (void *)0), b = start(take_turns, (void *)1);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
  CHECK(all.words[0] == 2 * TURNS);
  finish();
}

static void *hand_around(void *number) {
  unsigned own = (unsigned)(uintptr_t)number, next = (own + 1) % RING;
  begin();
  store(own, own * GAP, 1);
  pthread_barrier_wait(&all.barrier);
  store(next, next * GAP, 2);
  pthread_barrier_wait(&all.barrier);
  commit();
  return NULL;
}

TEST(handed_around_in_a_ring) {
  pthread_t threads[RING];
  prepare();
  pthread_barrier_init(&all.barrier, NULL, RING);
  for (uintptr_t i = 0; i < RING; i++)
    threads[i] = start(hand_around, (void *)i);
  for (unsigned i = 0; i < RING; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  reopen();
  for (unsigned i = 0; i < RING; i++)
    CHECK(all.words[i * GAP] == 2);
  finish();
}

static void *hold_and_commit(void *unused) {
  pthread_mutex_lock(&all.lock[1]); /* before it has anything to do with pools */
  begin();
  wait_for(1);
  store(0, GAP, all.words[0] + 1);
  all.step = 2;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EDEADLOCK);
  pthread_mutex_unlock(&all.lock[1]);
  return unused;
}

TEST(handed_in_a_cycle_with_a_lock_held_before) {
  prepare();
  pthread_t b = start(hold_and_commit, NULL);
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  store(1, 2 * GAP, 1);
  commit();
  CHECK(pthread_join(b, NULL) == 0 && all.words[GAP] == 0);
  finish();
}

static void post(int signal) {
  (void)signal;
  sem_post(&all.semaphore);
}

/* A handler that posts, at any moment of begin, release and commit; once in each transaction, else
 * a slow machine does nothing but handlers. */
TEST(handed_while_handlers_post) {
  prepare();
  signal(SIGALRM, post);
  struct itimerval never = {0};
  for (unsigned i = 0; i < 10 * TURNS; i++) {
    struct itimerval soon = {{0, 0}, {0, 1 + i * 7919 % 50}};
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    begin();
    store(0, 0, all.words[0] + 1);
    commit();
    while (sem_trywait(&all.semaphore) == 0)
      ;
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  CHECK(all.words[0] == 10 * TURNS);
  finish();
}

static void *store_outside(void *unused) {
  wait_for(1);
  all.step = 2;
  store(0, GAP, all.words[0] + 1); /* returns when that is known to be undone */
  store(2, 2 * GAP, 1);
  CHECK_FAILS(nvm_tx_begin(all.pool) == 0, NVM_EBROKEN);
  begin();
  commit();
  return unused;
}

/* What is stored outside transactions is committed by the next release, or lost and told. */
TEST(handed_outside_and_undone_is_told) {
  prepare();
  pthread_t c = start(store_outside, NULL);
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  usleep(LONGER_US);
  CHECK(nvm_tx_abort(all.pool) == 0);
  CHECK(pthread_join(c, NULL) == 0);
  CHECK(all.words[GAP] == 0 && all.words[2 * GAP] == 1);
  reopen();
  CHECK(all.words[GAP] == 0 && all.words[2 * GAP] == 1);
  finish();
}
