/* waiting.c: who waits for whom where locks are released inside transactions, and what is true of a
 * byte while several transactions that wrote it are open. Threads take turns by a number of steps.
 */
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum {
  WORDS = 64,
  FAR = 16,
  PLENTY = 1000,
  LATER_US = 60000 /* three times what an abort waits */
};

static struct {
  NVM_POOL *pool;
  uint64_t *words;
  pthread_mutex_t lock, other;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  pthread_cond_t condition;
  _Atomic unsigned step;
} all;

static void wait_for(unsigned step) {
  while (all.step < step)
    sched_yield();
}

static void prepare(void) {
  all.pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(all.pool) == 0);
  all.words = nvm_calloc(all.pool, 0, WORDS, sizeof *all.words);
  CHECK(all.words && nvm_pool_set_root(all.pool, all.words) == 0 && nvm_tx_commit(all.pool) == 0);
  pthread_mutex_init(&all.lock, NULL);
  pthread_mutex_init(&all.other, NULL);
  pthread_rwlock_init(&all.rwlock, NULL);
  pthread_spin_init(&all.spin, 0);
  pthread_cond_init(&all.condition, NULL);
  all.step = 0;
}

static void begin(void) { CHECK(nvm_tx_begin(all.pool) == 0); }
static void store(unsigned word, uint64_t value) {
  pthread_mutex_lock(&all.lock);
  STORE(all.words[word], value);
  pthread_mutex_unlock(&all.lock);
}

static void finish(void) {
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
  unlink(test_path("pool"));
}

static pthread_t start(void *(*run)(void *)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
  return thread;
}

static void check_reopened(unsigned word, uint64_t value) {
  CHECK(nvm_pool_close(all.pool) == 0);
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  CHECK(all.words[word] == value);
}

/* A, which releases a lock in its transaction and then waits until main lets it go on. */
static void *release_and_commit(void *unused) {
  begin();
  store(0, 1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_commit(all.pool) == 0);
  return unused;
}

/* What an abort restores is what others have released, not what the file has. */
TEST(review_a3_abort_beside_what_was_released) {
  prepare();
  pthread_t a = start(release_and_commit);
  wait_for(1);
  begin();
  store(0, 2);
  CHECK(nvm_tx_abort(all.pool) == 0 && all.words[0] == 1);
  all.step = 2;
  CHECK(pthread_join(a, NULL) == 0);
  begin();
  store(0, all.words[0] + 10);
  CHECK(nvm_tx_commit(all.pool) == 0);
  check_reopened(0, 11);
  finish();
}

/* The same where it is a commit that fails. */
TEST(review_a3_failed_commit_beside_what_was_released) {
  static int in_dram;
  static const struct nvm_field pointer = {
      .name = "p", .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER};
  static const struct nvm_type type = {.id = 4711,
                                       .name = "struct one",
                                       .members = "0 8 pointer p\n",
                                       .size = 8,
                                       .alignment = 8,
                                       .field_count = 1,
                                       .fields = &pointer};
  static const struct nvm_type *const types[] = {&type};
  __nvm_describe(types, types + 1);
  prepare();
  begin();
  void **place = nvm_calloc(all.pool, type.id, 1, sizeof *place);
  CHECK(place && nvm_tx_commit(all.pool) == 0);
  pthread_t a = start(release_and_commit);
  wait_for(1);
  begin();
  store(0, 2);
  STORE(*place, (void *)&in_dram);
  all.step = 2;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  CHECK(all.words[0] == 1 && !*place);
  CHECK(pthread_join(a, NULL) == 0);
  check_reopened(0, 1);
  finish();
}

/* B stays inside its transaction, longer than A's abort waits for it. */
static void *take_over_and_stay(void *unused) {
  begin();
  wait_for(1);
  pthread_mutex_lock(&all.lock);
  CHECK(all.words[0] == 1);
  STORE(all.words[0], 2);
  all.step = 2;
  wait_for(3);
  CHECK(all.words[0] == 2); /* it holds the lock: nobody changes what it stored */
  pthread_mutex_unlock(&all.lock);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  CHECK(all.words[0] == 0);
  return unused;
}

/* A is undone before B, whose bytes it had: in the end they are what they were before both. */
TEST(review_a3_abort_before_its_dependent) {
  prepare();
  pthread_t b = start(take_over_and_stay);
  begin();
  store(0, 1);
  STORE(all.words[FAR], 1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0 && all.words[FAR] == 0 && all.words[0] == 2);
  all.step = 3;
  CHECK(pthread_join(b, NULL) == 0);
  CHECK(all.words[0] == 0);
  check_reopened(0, 0);
  finish();
}

static void stay_and_die(void *unused) {
  (void)unused;
  prepare();
  start(take_over_and_stay);
  begin();
  store(0, 1);
  STORE(all.words[FAR], 1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  raise(SIGKILL);
}

/* The same where the process dies in between. */
TEST(review_a3_killed_between_an_abort_and_its_dependent) {
  CHECK(test_was_killed(test_child(NULL, stay_and_die, NULL)));
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  CHECK(all.words[0] == 0 && all.words[FAR] == 0);
  finish();
}

static void *three_deep(void *argument) {
  unsigned self = argument != NULL;
  begin();
  wait_for(1 + self);
  store(0, 2 + self);
  all.step = 2 + self;
  wait_for(5 - self); /* the last first, or the other way round */
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  all.step = 6 - self;
  return NULL;
}

/* Three have written the same byte one after the other; the first is undone, then the last, then
 * the one between. */
TEST(review_a3_three_deep) {
  prepare();
  pthread_t b, c;
  CHECK(pthread_create(&b, NULL, three_deep, NULL) == 0 &&
        pthread_create(&c, NULL, three_deep, &all) == 0);
  begin();
  store(0, 1);
  all.step = 1;
  wait_for(3);
  CHECK(nvm_tx_abort(all.pool) == 0 && all.words[0] == 3);
  all.step = 4;
  CHECK(pthread_join(b, NULL) == 0 && pthread_join(c, NULL) == 0);
  CHECK(all.words[0] == 0);
  check_reopened(0, 0);
  finish();
}

static void *free_and_stay(void *unused) {
  begin();
  wait_for(1);
  pthread_mutex_lock(&all.lock);
  CHECK(nvm_free((void *)(uintptr_t)all.words[0]) == 0);
  STORE(all.words[0], 0);
  pthread_mutex_unlock(&all.lock);
  all.step = 2;
  wait_for(3);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* A allocates and links, B frees, A is undone, then B: the block is free, once. */
TEST(review_d_block_of_an_abort_that_a_dependent_freed) {
  for (size_t size = 48; size < 1 << 20; size += (1 << 20) - 1000) {
    prepare();
    pthread_t b = start(free_and_stay);
    begin();
    void *block = nvm_alloc(all.pool, 0, size);
    store(0, (uint64_t)(uintptr_t)block);
    all.step = 1;
    wait_for(2);
    CHECK(nvm_tx_abort(all.pool) == 0);
    all.step = 3;
    CHECK(pthread_join(b, NULL) == 0);
    CHECK_FAILS(nvm_free(block) == 0, NVM_EDOUBLEFREE);
    CHECK(test_blocks(all.pool) == 1);
    begin();
    void *first = nvm_alloc(all.pool, 0, size), *second = nvm_alloc(all.pool, 0, size);
    CHECK(first && second && first != second && nvm_tx_commit(all.pool) == 0);
    CHECK(test_blocks(all.pool) == 3);
    finish();
  }
}

static void *commit_behind(void *unused) {
  begin();
  store(FAR, all.words[0]);
  all.step = 2;
  CHECK(nvm_tx_commit(all.pool) == 0);
  all.step = 4;
  return unused;
}

/* A commit waits for what it depends on, as long as that takes. */
TEST(waits_as_long_as_it_takes) {
  prepare();
  begin();
  store(0, 1);
  pthread_t b = start(commit_behind);
  wait_for(2);
  usleep(LATER_US);
  CHECK(all.step == 2);
  CHECK(nvm_tx_commit(all.pool) == 0);
  CHECK(pthread_join(b, NULL) == 0 && all.step == 4);
  finish();
}

/* Each kind of lock that B holds until its commit has returned, and A wants. */
static int take_other(void) { return pthread_mutex_lock(&all.other); }
static int leave_other(void) { return pthread_mutex_unlock(&all.other); }
static int write_rw(void) { return pthread_rwlock_wrlock(&all.rwlock); }
static int read_rw(void) { return pthread_rwlock_rdlock(&all.rwlock); }
static int leave_rw(void) { return pthread_rwlock_unlock(&all.rwlock); }
static int take_spin(void) { return pthread_spin_lock(&all.spin); }
static int leave_spin(void) { return pthread_spin_unlock(&all.spin); }
static const struct wanted {
  int (*by_b)(void), (*by_a)(void), (*leave)(void);
} kinds[] = {{take_other, take_other, leave_other},
             {write_rw, write_rw, leave_rw},
             {read_rw, write_rw, leave_rw},
             {write_rw, read_rw, leave_rw},
             {take_spin, take_spin, leave_spin}};
static const struct wanted *wanted;

static void *hold_and_commit(void *unused) {
  begin();
  CHECK(wanted->by_b() == 0);
  wait_for(1);
  store(FAR, all.words[0]);
  all.step = 2;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EDEADLOCK);
  CHECK(wanted->leave() == 0);
  wait_for(3);
  begin();
  store(FAR, all.words[0]);
  CHECK(nvm_tx_commit(all.pool) == 0);
  return unused;
}

/* A waits for a lock of B's, whose commit waits for A: B is undone, and told; then both can go on.
 */
TEST(waits_in_a_cycle_over_a_lock) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    prepare();
    wanted = &kinds[i];
    pthread_t b = start(hold_and_commit);
    begin();
    store(0, 1);
    all.step = 1;
    wait_for(2);
    CHECK(wanted->by_a() == 0 && wanted->leave() == 0);
    CHECK(nvm_tx_commit(all.pool) == 0);
    all.step = 3;
    CHECK(pthread_join(b, NULL) == 0 && all.words[FAR] == 1);
    finish();
  }
}

static void post(int signal) {
  static sem_t semaphore;
  (void)signal;
  sem_post(&semaphore);
}

/* A signal handler that posts a semaphore between a note and its store changes nothing. */
TEST(waits_not_for_a_handler_that_posts) {
  prepare();
  signal(SIGUSR1, post);
  for (unsigned in_transaction = 0; in_transaction < 2; in_transaction++) {
    if (in_transaction)
      begin();
    __nvm_note(&all.words[in_transaction], 8);
    raise(SIGUSR1);
    *(volatile uint64_t *)&all.words[in_transaction] = 5;
    if (in_transaction)
      CHECK(nvm_tx_commit(all.pool) == 0);
    else
      __nvm_commit_point();
  }
  check_reopened(0, 5);
  CHECK(all.words[1] == 5);
  finish();
}
