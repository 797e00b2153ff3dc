/* Order of commits among threads that end no transaction, and among many that wait for each other.
 */
#include "harness.h"
#include "order/node.h"
#include "order/order.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { IN_CYCLE = 3, WAITING = IN_CYCLE + 1 };

static struct {
  NVM_POOL *pool;
  uint64_t *words;                           /* 32 for each thread: lines of their own */
  pthread_mutex_t locks[WAITING], last_lock; /* of each; of main */
  _Atomic unsigned turn, done;
} all;

static void wait_for(_Atomic unsigned *counter, unsigned value) {
  while (*counter < value)
    sched_yield();
}

static void write_under(pthread_mutex_t *lock, unsigned word, uint64_t value) {
  pthread_mutex_lock(lock);
  STORE(all.words[32 * word], value);
  pthread_mutex_unlock(lock);
}

static void take(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
}

static void prepare(void) {
  all.pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(all.pool) == 0);
  all.words = nvm_calloc(all.pool, 0, 32 * (WAITING + 1), sizeof *all.words);
  CHECK(all.words && nvm_pool_set_root(all.pool, all.words) == 0 && nvm_tx_commit(all.pool) == 0);
  for (unsigned i = 0; i < WAITING; i++)
    pthread_mutex_init(&all.locks[i], NULL);
  pthread_mutex_init(&all.last_lock, NULL);
}

static void check_joined(uint64_t expected) {
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(all.pool, &stats) == 0);
  CHECK(stats.joined_commits == expected);
}

static bool count_node(struct nvmi_node *node, void *nodes) {
  (void)node;
  ++*(unsigned *)nodes;
  return false;
}

/* Nodes are used again: when nothing is open nobody refers to one. */
static void check_nodes(void) {
  unsigned nodes = 0;
  nvmi_order_lock();
  nvmi_node_find(count_node, &nodes);
  nvmi_order_unlock();
  CHECK(nodes == 0);
}

static void *only_read(void *unused) {
  for (unsigned round = 1; round <= 10; round++) {
    wait_for(&all.turn, round);
    take(&all.last_lock);
    all.done = round;
  }
  wait_for(&all.turn, 11);
  return unused;
}

/* Nothing waits for a reader, whose transaction never ends since it has none. */
TEST(reader_outside_transactions) {
  prepare();
  pthread_t reader;
  CHECK(pthread_create(&reader, NULL, only_read, NULL) == 0);
  for (unsigned round = 1; round <= 10; round++) {
    CHECK(nvm_tx_begin(all.pool) == 0);
    write_under(&all.last_lock, 0, round);
    all.turn = round;
    wait_for(&all.done, round);
    write_under(&all.last_lock, 1, round);
    CHECK(nvm_tx_commit(all.pool) == 0);
  }
  check_joined(0);
  all.turn = 11;
  CHECK(pthread_join(reader, NULL) == 0);
  check_nodes();
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* Each of the cycle depends on all others of it, and last on main. The one behind them depends on
 * the cycle. */
static void *depend_and_commit(void *argument) {
  unsigned self = *(const unsigned *)argument;
  CHECK(nvm_tx_begin(all.pool) == 0);
  wait_for(&all.turn, self);
  write_under(&all.locks[self], self, 1);
  all.turn = self + 1;
  wait_for(&all.turn, WAITING + 1 + self);
  for (unsigned i = 0; i < IN_CYCLE; i++)
    if (i != self)
      take(&all.locks[i]);
  if (self < IN_CYCLE)
    take(&all.last_lock);
  all.turn = WAITING + 2 + self;
  wait_for(&all.turn, 2 * WAITING + 1);
  CHECK(nvm_tx_commit(all.pool) == 0);
  all.done++;
  return NULL;
}

TEST(cycle_that_waits_for_somebody_else) {
  prepare();
  pthread_t threads[WAITING];
  unsigned numbers[WAITING];
  for (unsigned i = 0; i < WAITING; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, depend_and_commit, &numbers[i]) == 0);
  }
  wait_for(&all.turn, WAITING);
  CHECK(nvm_tx_begin(all.pool) == 0);
  write_under(&all.last_lock, WAITING, 1);
  all.turn = WAITING + 1;
  usleep(100000);
  CHECK(all.done == 0);
  CHECK(nvm_tx_commit(all.pool) == 0);
  for (unsigned i = 0; i < WAITING; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  check_joined(IN_CYCLE - 1);
  check_nodes();
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* X and Y wait for each other and become one; Y waits for Z besides, whose transaction is open. Z wants
 * a lock that X, which has joined, holds until its commit returns. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t to_x = PTHREAD_MUTEX_INITIALIZER, to_y = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t from_z = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned broken;

static void end(unsigned word) {
  enum nvm_error error = nvm_tx_commit(all.pool) == 0 ? NVM_OK : nvm_errno();
  CHECK(!error || error == NVM_EDEADLOCK || error == NVM_EBROKEN);
  broken += error == NVM_EDEADLOCK;
  CHECK(all.words[32 * word] == (error ? 0 : 1));
}

static void *commit_x(void *unused) {
  CHECK(nvm_tx_begin(all.pool) == 0);
  pthread_mutex_lock(&held);
  write_under(&to_y, 0, 1);
  all.done++;
  wait_for(&all.done, 3);
  take(&to_x);
  all.turn = 1;
  end(0);
  pthread_mutex_unlock(&held);
  return unused;
}

static void *commit_y(void *unused) {
  CHECK(nvm_tx_begin(all.pool) == 0);
  write_under(&to_x, 1, 1);
  all.done++;
  wait_for(&all.done, 3);
  take(&to_y);
  take(&from_z);
  wait_for(&all.turn, 1);
  end(1);
  return unused;
}

static void *commit_z(void *unused) {
  CHECK(nvm_tx_begin(all.pool) == 0);
  write_under(&from_z, 2, 1);
  all.done++;
  wait_for(&all.turn, 1);
  struct nvm_stats stats = {0};
  while (!stats.joined_commits) /* of X or Y */
    CHECK(nvm_pool_stats(all.pool, &stats) == 0);
  take(&held);
  CHECK(nvm_tx_commit(all.pool) == 0 && all.words[64] == 1);
  return unused;
}

TEST(cycle_over_a_lock_of_one_that_joined) {
  static void *(*const commits[])(void *) = {commit_x, commit_y, commit_z};
  pthread_t threads[3];
  prepare();
  for (unsigned i = 0; i < 3; i++)
    CHECK(pthread_create(&threads[i], NULL, commits[i], NULL) == 0);
  for (unsigned i = 0; i < 3; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(broken);
  check_nodes();
  CHECK(nvm_pool_close(all.pool) == 0);
}
