/* leaving.c: a pool is closed while threads are there: some end, as a program cannot know of detached
 * ones, some stand idle, and some were in a process that died, whose logs nobody has any more.
 */
#include "harness.h"
#include "heap/heap_types.h"
#include "hooks.h"
#include "store.h"

#include "nvmove/inspect.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 60, LONG = 2 << 20, LINE_WORDS = 8, MANY = 1024 };

static NVM_POOL *pool;
static uint64_t *words;
static _Atomic unsigned stored;
static pthread_barrier_t barrier;

static void make(size_t pool_size, size_t size, bool counts) {
  pool = test_create(test_path("pool"), pool_size);
  CHECK(!counts || nvm_pool_count_references(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  words = nvm_calloc(pool, 0, 1, size);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
}

static void open_again(void) {
  pool = test_open(test_path("pool"));
  words = nvm_pool_root(pool);
}

static void *store_and_end(void *number) {
  uint64_t *own = &words[(uintptr_t)number * LINE_WORDS];
  STORE(*own, *own + 1);
  atomic_fetch_add(&stored, 1);
  return NULL;
}

static nlink_t tasks(void) {
  struct stat status; /* a link for each, and two */
  CHECK(stat("/proc/self/task", &status) == 0);
  return status.st_nlink;
}

TEST(closed_while_threads_end) {
  pthread_attr_t detached;
  pthread_t thread;
  nlink_t before = tasks();
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  make(1 << 20, THREADS * LINE_WORDS * 8, false);
  for (unsigned round = 1; round <= ROUNDS; round++) {
    stored = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
      CHECK(pthread_create(&thread, &detached, store_and_end, (void *)i) == 0);
    while (atomic_load(&stored) < THREADS)
      ;
    CHECK(nvm_pool_close(pool) == 0);
    open_again();
    for (unsigned i = 0; i < THREADS; i++)
      CHECK(words[i * LINE_WORDS] == round);
  }
  CHECK(nvm_pool_close(pool) == 0);
  /* The leak checker reports what the C library keeps of a thread that ends while the process does.
   * A sanitizer may start a thread of its own, which stays. */
  for (unsigned tries = 0; tries < 1000 && tasks() > before; tries++)
    usleep(100);
}

static void *store_and_idle(void *unused) {
  STORE(words[0], 7);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return unused;
}

/* What it has stored outside transactions only that thread commits: no release finds the pool quiet before. */
TEST(not_closed_over_an_idle_thread_where_references_count) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  make(6 << 20, 64, true);
  CHECK(pthread_create(&thread, NULL, store_and_idle, NULL) == 0);
  pthread_barrier_wait(&barrier);
  CHECK_FAILS(nvm_pool_close(pool) == 0, NVM_EOPENTX);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(pool) == 0);
  open_again();
  CHECK(words[0] == 7 && nvm_pool_close(pool) == 0);
}

/* What a thread knows of its notes ends with the pool's life: the same addresses are noted again in the next. */
static void *store_in_each_life(void *unused) {
  uint64_t bytes[MANY / 2], *block = NULL;
  for (uint64_t round = 1; round <= 2; round++) {
    for (unsigned i = 0; i < MANY / 2; i++)
      bytes[i] = round;
    store_bytes(words, bytes, sizeof bytes); /* in one range */
    for (unsigned i = MANY / 2; i < MANY; i++)
      STORE(words[i], round);
    if (!block)
      block = nvm_alloc(pool, 0, MANY * sizeof(uint64_t));
    for (unsigned i = 0; i < MANY; i++)
      STORE(block[i], round);
    if (round == 1) {
      STORE(words[MANY], (uintptr_t)block);
      __nvm_commit_point();
    }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void live_twice(void *dies) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  make(1 << 20, (MANY + 1) * sizeof *words, false);
  CHECK(pthread_create(&thread, NULL, store_in_each_life, NULL) == 0);
  pthread_barrier_wait(&barrier);
  const uint64_t *before = words;
  CHECK(nvm_pool_close(pool) == 0);
  open_again();
  CHECK(words == before);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  if (dies)
    raise(SIGKILL);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(pool) == 0);
}

TEST(closed_over_what_its_owner_remembers) {
  for (unsigned dies = 0; dies < 2; dies++) {
    int status = test_child(NULL, live_twice, dies ? &pool : NULL);
    CHECK(dies ? test_was_killed(status) : status == 0);
    open_again();
    const uint64_t *block = (const uint64_t *)words[MANY];
    for (unsigned i = 0; i < MANY; i++)
      CHECK(block[i] == 2 - dies && words[i] == 2 - dies);
    CHECK(nvm_pool_close(pool) == 0 && unlink(test_path("pool")) == 0);
  }
}

static void *begin_elsewhere(void *second) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], 7);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(second) == 0 && nvm_alloc(second, 0, 64));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  CHECK(nvm_tx_commit(second) == 0);
  return NULL;
}

/* Nothing of another pool keeps it from being closed, nor becomes a part of what the close frees. */
TEST(closed_beside_transactions_elsewhere_where_references_count) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  make(6 << 20, 64, true);
  NVM_POOL *second = test_create(test_path("second"), 1 << 20);
  CHECK(pthread_create(&thread, NULL, begin_elsewhere, second) == 0);
  pthread_barrier_wait(&barrier);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, 64) && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0); /* frees that block */
  open_again();
  CHECK(test_blocks(pool) == 1 && words[0] == 7);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, 64) && nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(second) == 0 && nvm_alloc(second, 0, 64));
  CHECK(nvm_pool_close(pool) == 0); /* leaves it */
  CHECK(nvm_tx_abort(second) == 0);
  open_again();
  CHECK(test_blocks(pool) == 2 && nvm_pool_release(pool, NULL) == 0 && test_blocks(pool) == 1);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(pool) == 0);
  CHECK(test_blocks(second) == 1 && nvm_pool_close(second) == 0);
}

static void count_and_die(void *unused) {
  (void)unused;
  make(6 << 20, 64, true);
  raise(SIGKILL);
}

/* It counts from the call on, however the process ends. */
TEST(left_by_a_death_once_references_count) {
  struct nvm_account account;
  CHECK(test_was_killed(test_child(NULL, count_and_die, NULL)));
  open_again();
  CHECK(nvm_pool_account(pool, &account) == 0 && account.counts_references);
  CHECK(nvm_pool_close(pool) == 0);
}

static void *fail_to_begin(void *unused) {
  CHECK(nvm_tx_begin(pool) == 0);
  CHECK_FAILS(nvm_alloc(pool, 0, 16), NVM_ESYSTEM);
  CHECK(strstr(nvm_strerror(), "refuses membarrier(2); "));
  CHECK(nvm_tx_abort(pool) == 0);
  return unused;
}

/* One thread needs no barrier; what several do would not be safe without. */
TEST(closed_by_one_thread_without_membarrier) {
  pthread_t thread;
  hook_no_barrier = true;
  make(1 << 20, 64, false);
  STORE(words[0], 7);
  CHECK(pthread_create(&thread, NULL, fail_to_begin, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  open_again();
  CHECK(words[0] == 7 && nvm_pool_close(pool) == 0);
}

static unsigned chunks_of_logs(void) {
  const uint64_t *table = (const uint64_t *)(pool->home + NVM_CHUNKS_OFFSET);
  unsigned chunks = 0;
  for (uint64_t i = 0; i < pool->header.heap_size >> NVM_CHUNK_SHIFT; i++)
    if ((table[i] & 0xff) == NVM_CHUNK_LOG)
      chunks += (unsigned)(table[i] >> 32);
  return chunks;
}

static void store_all(uint64_t value) {
  __nvm_note(words, LONG);
  for (unsigned i = 0; i < LONG / 8; i++)
    words[i] = value;
}

static void *store_much_and_die(void *unused) {
  CHECK(nvm_tx_begin(pool) == 0);
  store_all(1);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
  store_all(2);
  raise(SIGKILL);
  return unused;
}

/* This thread has the first log, and the one with a long transaction another. */
static void die_in_a_long_transaction(void *unused) {
  pthread_t thread;
  (void)unused;
  open_again();
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(words[0], 5);
  CHECK(nvm_tx_abort(pool) == 0);
  CHECK(pthread_create(&thread, NULL, store_much_and_die, NULL) == 0);
  pthread_join(thread, NULL);
}

TEST(closed_with_logs_that_a_dead_process_left) {
  make(16 << 20, LONG, false);
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(test_was_killed(test_child(NULL, die_in_a_long_transaction, NULL)));
  open_again();
  CHECK(chunks_of_logs() > LONG >> NVM_CHUNK_SHIFT);
  CHECK(words[0] == 1 && words[LONG / 8 - 1] == 1);
  CHECK(nvm_pool_close(pool) == 0);
  open_again();
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, 16) && nvm_tx_commit(pool) == 0);
  CHECK(chunks_of_logs() <= 8);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
