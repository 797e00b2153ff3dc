/* returns.c: what is durable when a commit returns, where transactions depend on each other. */
#include "harness.h"
#include "hooks.h"
#include "store.h"
#include "type_tables.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

enum { PLACE_ID = 1901, FAR = 32 /* words between what two threads write */ };

struct place {
  void *pointer;
};

static const struct nvm_field place_fields[] = {TEST_FIELD(place, pointer, NVM_FIELD_POINTER)};
static const struct nvm_type place_type = TEST_TYPE(PLACE_ID, place, place_fields);
TEST_TYPES(described, &place_type);

static struct {
  NVM_POOL *pool;
  uint64_t *words;
  struct place *places[2];
  pthread_mutex_t locks[2];
  unsigned is_unsafe; /* bits: which thread's transaction */
  unsigned first;     /* to commit: the other one joins it */
  bool aborts;        /* the writer does */
  int errors[2];
  _Atomic unsigned turn, done;
  _Atomic bool holds, is_held, let_go;
} all;

static void wait_for(_Atomic unsigned *counter, unsigned value) {
  while (*counter < value)
    sched_yield();
}

static void prepare(void) {
  all.pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(all.pool) == 0);
  all.words = nvm_calloc(all.pool, 0, 3 * FAR, sizeof *all.words);
  for (unsigned i = 0; i < 2; i++) {
    all.places[i] = nvm_calloc(all.pool, PLACE_ID, 1, sizeof(struct place));
    CHECK(all.places[i]);
    pthread_mutex_init(&all.locks[i], NULL);
  }
  CHECK(all.words && nvm_pool_set_root(all.pool, all.words) == 0 && nvm_tx_commit(all.pool) == 0);
}

/* The first commit that writes its record stays there. */
static void hold(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT || !atomic_exchange(&all.holds, false))
    return;
  all.is_held = true;
  while (!all.let_go)
    usleep(100);
}

static void await_hold(void) {
  while (!all.is_held)
    usleep(100);
}

static void take(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
}

static _Thread_local bool commits_first;
static void say_that_it_waits(void) {
  if (commits_first)
    all.turn = 5;
}

/* Two of these depend on each other. */
static void *depend_and_commit(void *argument) {
  static int in_dram;
  unsigned self = *(const unsigned *)argument;
  CHECK(nvm_tx_begin(all.pool) == 0);
  pthread_mutex_lock(&all.locks[self]);
  STORE(all.words[FAR * self], 1);
  if (all.is_unsafe >> self & 1)
    STORE(all.places[self]->pointer, (void *)&in_dram);
  pthread_mutex_unlock(&all.locks[self]);
  all.turn++;
  wait_for(&all.turn, 2);
  take(&all.locks[!self]);
  all.turn++;
  wait_for(&all.turn, self == all.first ? 4 : 5);
  commits_first = self == all.first;
  all.errors[self] = nvm_tx_commit(all.pool) == 0 ? NVM_OK : (int)nvm_errno();
  commits_first = false;
  all.done++;
  wait_for(&all.done, 2);
  CHECK(nvm_tx_begin(all.pool) == 0);
  STORE(all.words[FAR * self], 2);
  CHECK(nvm_tx_commit(all.pool) == 0);
  return NULL;
}

static void run_cycle(unsigned first, unsigned is_unsafe) {
  static unsigned numbers[2] = {0, 1};
  pthread_t threads[2];
  prepare();
  all.first = first;
  all.is_unsafe = is_unsafe;
  all.turn = all.done = 0;
  all.is_held = all.let_go = false;
  all.holds = !is_unsafe;
  hook_steps(hold);
  hook_yield = say_that_it_waits;
  for (unsigned i = 0; i < 2; i++)
    CHECK(pthread_create(&threads[i], NULL, depend_and_commit, &numbers[i]) == 0);
  if (!is_unsafe) {
    await_hold();
    usleep(100000);
    CHECK(all.done == 0);
    all.let_go = true;
  }
  for (unsigned i = 0; i < 2; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  struct nvm_stats stats;
  CHECK(nvm_pool_stats(all.pool, &stats) == 0);
  CHECK(is_unsafe || stats.joined_commits == 1);
  CHECK(all.words[0] == 2 && all.words[FAR] == 2);
  CHECK(nvm_pool_close(all.pool) == 0 && unlink(test_path("pool")) == 0);
}

/* One joins the other's transaction, and returns no sooner than that is durable. */
TEST(returns_cycle_when_durable) {
  run_cycle(0, 0);
  CHECK(all.errors[0] == NVM_OK && all.errors[1] == NVM_OK);
}

TEST(returns_cycle_when_undone) {
  for (unsigned round = 0; round < 4; round++) {
    unsigned first = round & 1, wrong = round >> 1;
    run_cycle(first, 1U << wrong);
    CHECK(all.errors[wrong] == NVM_EUNSAFE && all.errors[!wrong] == NVM_EBROKEN);
  }
}

static void *write_hand_on_and_end(void *unused) {
  CHECK(nvm_tx_begin(all.pool) == 0);
  pthread_mutex_lock(&all.locks[0]);
  STORE(all.words[0], 1);
  pthread_mutex_unlock(&all.locks[0]);
  all.turn = 1;
  wait_for(&all.turn, 2);
  CHECK((all.aborts ? nvm_tx_abort : nvm_tx_commit)(all.pool) == 0);
  return unused;
}

/* The calling thread reads what it has written. */
static void start_writer(pthread_t *writer) {
  prepare();
  CHECK(pthread_create(writer, NULL, write_hand_on_and_end, NULL) == 0);
  wait_for(&all.turn, 1);
  take(&all.locks[0]);
}

static void *let_go_later(void *unused) {
  usleep(100000);
  all.done++;
  all.let_go = true;
  return unused;
}

/* Who has read what another thread has not committed yet waits for it. */
static void read_and_wait(bool is_point) {
  pthread_t writer, clock;
  start_writer(&writer);
  if (!is_point)
    CHECK(nvm_tx_begin(all.pool) == 0);
  all.holds = true;
  hook_steps(hold);
  all.turn = 2;
  await_hold();
  CHECK(pthread_create(&clock, NULL, let_go_later, NULL) == 0);
  if (is_point)
    __nvm_commit_point();
  else
    CHECK(nvm_tx_commit(all.pool) == 0);
  CHECK(all.done == 1);
  CHECK(pthread_join(clock, NULL) == 0 && pthread_join(writer, NULL) == 0);
  CHECK(nvm_pool_close(all.pool) == 0);
}

TEST(returns_reader_of_what_is_committed) { read_and_wait(false); }
TEST(returns_reader_at_a_commit_point) { read_and_wait(true); }

/* It has lost nothing. */
TEST(returns_reader_of_what_is_aborted) {
  pthread_t writer;
  all.aborts = true;
  start_writer(&writer);
  all.turn = 2;
  __nvm_commit_point();
  CHECK(pthread_join(writer, NULL) == 0);
  __nvm_commit_point();
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* What the close commits waits for another thread's transaction in another pool. */
TEST(returns_close_of_what_joins) {
  NVM_POOL *own = test_create(test_path("own"), 1 << 20);
  uint64_t *word = nvm_calloc(own, 0, 1, sizeof *word);
  CHECK(word && nvm_pool_set_root(own, word) == 0);
  pthread_t writer;
  start_writer(&writer);
  STORE(*word, 1);
  CHECK_FAILS(nvm_pool_close(own) == 0, NVM_EOPENTX);
  all.turn = 2;
  CHECK(pthread_join(writer, NULL) == 0);
  CHECK(nvm_pool_close(own) == 0 && nvm_pool_close(all.pool) == 0);
  own = test_open(test_path("own"));
  CHECK(*(uint64_t *)nvm_pool_root(own) == 1 && nvm_pool_close(own) == 0);
}

static sem_t semaphore;
static _Thread_local bool posts;
static pthread_t ending;
static void post_as_a_handler_does(void) {
  if (!posts)
    return;
  posts = false;
  all.turn = 2;
  CHECK(pthread_join(ending, NULL) == 0);
  CHECK(sem_post(&semaphore) == 0);
}

/* A signal handler that interrupts the wait may release a semaphore. */
TEST(returns_reader_whose_handler_posts) {
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  hook_yield = post_as_a_handler_does;
  start_writer(&ending);
  posts = true;
  __nvm_commit_point();
  CHECK(!posts && nvm_pool_close(all.pool) == 0);
}
