/* given_back.c: a pool that is closed gives back all memory that the runtime had for it, whatever its threads did.
 */
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include "nvmove/wrap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 14, STEP = 16, BLOCKS = 3000, LARGE = 200 << 10, ROUNDS = 4, FEW_LINES = 20 };

static NVM_POOL *pool;
static uint64_t *words;
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void store_to(uint64_t *first, size_t count, uint64_t value) {
  for (size_t i = 0; i < count; i += STEP)
    STORE(first[i], value);
}

static void begin(void) { CHECK(nvm_tx_begin(pool) == 0); }
static void commit(void) { CHECK(nvm_tx_commit(pool) == 0); }

/* Long lists of whatever a transaction has lists of. No transaction follows another one: what is known of such
 * ones belongs to the process, and is used again. */
static void *work(void *half) {
  static uint64_t *all[2][BLOCKS];
  pthread_mutex_t *mutex = &mutexes[half != NULL];
  uint64_t **blocks = all[half != NULL], *own = words + (half ? WORDS / 2 : 0);
  begin();
  for (unsigned i = 0; i < BLOCKS; i++) {
    CHECK((blocks[i] = nvm_alloc(pool, 0, 64)));
    STORE(*blocks[i], i);
  }
  store_to(own, 8 * STEP, 9); /* beside new blocks */
  uint64_t *large = nvm_alloc(pool, 0, LARGE);
  CHECK(large);
  store_to(large, LARGE / sizeof *large, 7);
  commit();
  begin();
  pthread_mutex_lock(mutex);
  store_to(own, WORDS / 2, 1);
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
  store_to(own, WORDS / 2, 2);
  pthread_mutex_unlock(mutex);
  commit();
  begin();
  store_to(own, WORDS / 2, 3);
  CHECK(nvm_tx_abort(pool) == 0);
  begin();
  for (unsigned i = 0; i < BLOCKS; i++)
    CHECK(nvm_free(blocks[i]) == 0);
  CHECK(nvm_free(large) == 0);
  commit();
  begin();
  uint64_t *few =
      nvm_alloc(pool, 0, FEW_LINES * NVM_LINE_SIZE); /* one range, in a short transaction */
  CHECK(few);
  __nvm_note(few, FEW_LINES * NVM_LINE_SIZE);
  memset(few, 4, FEW_LINES * NVM_LINE_SIZE);
  CHECK(nvm_pool_set_root(pool, words) == 0);
  commit();
  return NULL;
}

/* The same, by calls. */
static void *wrap_work(void *half) {
  uint64_t *own = words + (half ? WORDS / 2 : 0);
  CHECK(nvm_wrap_open(pool) == 0);
  for (size_t i = 0; i < WORDS / 2; i += STEP)
    nvm_wrap_store64(&own[i], i);
  CHECK(nvm_wrap_close(pool) == 0);
  return NULL;
}

static void check_memory(void *(*work)(void *)) {
  unsigned mapped[ROUNDS];
  setenv("NVMOVE_SHADOW_DRAM", "4M", 1);
  pool = test_create(test_path("pool"), 16 << 20);
  CHECK(nvm_wrap_open(pool) == 0 && (words = nvm_calloc(pool, 0, WORDS, sizeof *words)));
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_wrap_close(pool) == 0);
  for (unsigned round = 0; round < ROUNDS; round++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, words) == 0);
    work(NULL);
    CHECK(pthread_join(thread, NULL) == 0 && nvm_pool_close(pool) == 0);
    mapped[round] = hook_mapped_now();
    pool = test_open(test_path("pool"));
    words = nvm_pool_root(pool);
  }
  CHECK(nvm_pool_close(pool) == 0);
  CHECK(mapped[1] && mapped[1] == mapped[ROUNDS - 1]); /* the first round makes what stays */
}

TEST(close_gives_back_all_memory) { check_memory(work); }

TEST_WRAPPED(wrapped_close_gives_back_all_memory) { check_memory(wrap_work); }
