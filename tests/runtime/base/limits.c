/* limits.c: one more than the documented number of pools, of types and of writing threads:
 * NVM_ELIMIT, which leaves the others what they have.
 */
#define _GNU_SOURCE
#include "core/pool.h"
#include "harness.h"
#include "store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TYPES = NVM_TYPES_MAX - 1, THREADS = NVM_SLOTS_MAX, STACK = 512 << 10 };

static void pool_path(char *path, size_t size, unsigned number) {
  snprintf(path, size, "%s%u", test_path("pool-"), number);
}

TEST_ONCE(limit_of_pools) {
  NVM_POOL *pools[NVMI_POOLS_MAX];
  char path[PATH_MAX];
  const char *closed = test_path("closed"), *more = test_path("more");
  CHECK(nvm_pool_close(test_create(closed, 1 << 20)) == 0);
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    pool_path(path, sizeof path, i);
    pools[i] = test_create(path, 1 << 20);
  }
  CHECK_FAILS(nvm_pool_create(more, 1 << 20), NVM_ELIMIT);
  CHECK(access(more, F_OK) != 0 && strstr(nvm_strerror(), "64 pools are open"));
  CHECK_FAILS(nvm_pool_open(closed), NVM_ELIMIT);
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    CHECK(nvm_tx_begin(pools[i]) == 0);
    uint64_t *word = nvm_alloc(pools[i], 0, sizeof *word);
    STORE(*word, i);
    CHECK(nvm_pool_set_root(pools[i], word) == 0 && nvm_tx_commit(pools[i]) == 0);
  }
  CHECK(nvm_pool_close(pools[7]) == 0);
  pools[7] = test_open(closed);
  CHECK_FAILS(nvm_pool_create(more, 1 << 20), NVM_ELIMIT);
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    CHECK(i == 7 || *(uint64_t *)nvm_pool_root(pools[i]) == i);
    CHECK(nvm_pool_close(pools[i]) == 0);
  }
}

TEST(limit_of_types) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  for (int again = 0; again < 2; again++) {
    CHECK(nvm_tx_begin(pool) == 0);
    for (uint64_t type = 1; type <= TYPES; type++)
      CHECK(nvm_alloc(pool, 1000 + type, 16));
    CHECK_FAILS(nvm_alloc(pool, 7, 16), NVM_ELIMIT);
    CHECK_FAILS(nvm_calloc(pool, 8, 1, 100000), NVM_ELIMIT);
    CHECK(strstr(nvm_strerror(), test_path("pool")) && strstr(nvm_strerror(), "1023 types"));
    CHECK(nvm_alloc(pool, 0, 16) && nvm_alloc(pool, 1001, 16) && nvm_tx_commit(pool) == 0);
    CHECK(nvm_pool_close(pool) == 0);
    test_check_pool(test_path("pool"));
    pool = test_open(test_path("pool"));
  }
  CHECK(test_blocks(pool) == 2 * (TYPES + 2) && nvm_pool_close(pool) == 0);
}

static NVM_POOL *shared;
static uint64_t *words;
static pthread_barrier_t all_write, may_end;
static _Thread_local jmp_buf refused;

static void *write_and_wait(void *word) {
  CHECK(nvm_tx_begin(shared) == 0);
  STORE(*(uint64_t *)word, 1);
  pthread_barrier_wait(&all_write);
  pthread_barrier_wait(&may_end);
  CHECK(nvm_tx_commit(shared) == 0);
  return NULL;
}

static void jump(enum nvm_error code, const char *message) {
  CHECK(code == NVM_ELIMIT && strstr(message, ": no log for this thread: 1024 threads write"));
  CHECK(!strstr(strstr(message, "thread: "), test_path("pool"))); /* the path is there once */
  longjmp(refused, 1);
}

/* Nobody can be told that a store has failed but the handler. */
static void *store_refused(void *word) {
  nvm_set_fatal_handler(jump);
  CHECK(nvm_tx_begin(shared) == 0);
  if (setjmp(refused) == 0) {
    STORE(*(uint64_t *)word, 1);
    CHECK(!"it was let in");
  }
  CHECK(nvm_tx_abort(shared) == 0 && *(uint64_t *)word == 0);
  nvm_set_fatal_handler(NULL);
  return word;
}

static void *allocate_refused(void *unused) {
  CHECK(nvm_tx_begin(shared) == 0);
  CHECK_FAILS(nvm_alloc(shared, 0, 8), NVM_ELIMIT);
  CHECK(strstr(nvm_strerror(), "1024 threads write"));
  CHECK(nvm_tx_commit(shared) == 0);
  return unused;
}

static void run_alone(void *(*body)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, argument) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void start(pthread_t *threads) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK(pthread_attr_setstacksize(&small, STACK) == 0);
  for (unsigned i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], &small, write_and_wait, &words[8 * i]))
      test_skip("needs the right to start 1,024 threads");
}

static void *store_again(void *word) {
  CHECK(nvm_tx_begin(shared) == 0);
  STORE(*(uint64_t *)word, 1);
  CHECK(nvm_tx_commit(shared) == 0);
  return NULL;
}

static void *make_words(void *unused) {
  CHECK(nvm_tx_begin(shared) == 0);
  words = nvm_calloc(shared, 0, THREADS + 1, 64);
  CHECK(words && nvm_pool_set_root(shared, words) == 0 && nvm_tx_commit(shared) == 0);
  return unused;
}

/* In threads of its own: this one writes nothing, and has no log. */
TEST(review_a12_limit_of_threads) {
  static pthread_t threads[THREADS];
  shared = test_create(test_path("pool"), 64 << 20);
  run_alone(make_words, NULL);
  pthread_barrier_init(&all_write, NULL, THREADS + 1);
  pthread_barrier_init(&may_end, NULL, THREADS + 1);
  start(threads);
  pthread_barrier_wait(&all_write);
  run_alone(allocate_refused, NULL);
  run_alone(store_refused, &words[8 * THREADS]);
  pthread_barrier_wait(&may_end);
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  run_alone(store_again, &words[8 * THREADS]);
  for (unsigned i = 0; i <= THREADS; i++)
    CHECK(words[8 * i] == 1);
  CHECK(nvm_pool_close(shared) == 0);
  test_check_pool(test_path("pool"));
}
