/* closed_among.c: a pool is closed while threads that stored to it outside transactions go on in
 * another. */
#include "harness.h"
#include "store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
  THREADS = 2,
  ROUNDS = 40,
  STORES = 4000,
  LINE_WORDS = 8,
  OWN_LINES = 8,
  OWN = OWN_LINES * LINE_WORDS
};

struct data {
  uint64_t words[THREADS * OWN];
};

static NVM_POOL *closed, *used;
static struct data *in_closed, *in_used;
static _Atomic unsigned stored;
static atomic_bool stop;

static struct data *make(NVM_POOL **pool, const char *name) {
  *pool = test_create(test_path(name), 1 << 20);
  CHECK(nvm_tx_begin(*pool) == 0);
  struct data *data = nvm_calloc(*pool, 0, 1, sizeof *data);
  CHECK(data && nvm_pool_set_root(*pool, data) == 0 && nvm_tx_commit(*pool) == 0);
  return data;
}

/* Each line has a count that nobody else writes, and which is one more each time. */
static void *store_to_both(void *number) {
  uint64_t *first = in_closed->words + (uintptr_t)number * OWN;
  uint64_t *own = in_used->words + (uintptr_t)number * OWN;
  uint64_t count = own[0];
  for (unsigned i = 0; i < OWN_LINES; i++) {
    STORE(first[i * LINE_WORDS], first[i * LINE_WORDS] + 1);
    STORE(own[i * LINE_WORDS], count + 1);
  }
  atomic_fetch_add(&stored, 1);
  for (unsigned i = 0; i < STORES || !stop; i++)
    STORE(own[i % OWN_LINES * LINE_WORDS], own[i % OWN_LINES * LINE_WORDS] + 1);
  for (unsigned i = 0; i < OWN_LINES; i++)
    STORE(own[i * LINE_WORDS + 1], own[i * LINE_WORDS]);
  return NULL;
}

static void one_round(uint64_t round) {
  pthread_t threads[THREADS];
  uint64_t counts[THREADS * OWN_LINES];
  stored = 0;
  stop = false;
  for (uintptr_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, store_to_both, (void *)i) == 0);
  while (stored < THREADS)
    ;
  CHECK(nvm_pool_close(closed) == 0);
  stop = true;
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  for (unsigned i = 0; i < THREADS * OWN_LINES; i++)
    counts[i] = in_used->words[i * LINE_WORDS];
  CHECK(nvm_pool_close(used) == 0);
  closed = test_open(test_path("closed"));
  used = test_open(test_path("used"));
  in_closed = nvm_pool_root(closed);
  in_used = nvm_pool_root(used);
  for (unsigned i = 0; i < THREADS * OWN_LINES; i++) {
    CHECK(in_closed->words[i * LINE_WORDS] == round);
    CHECK(in_used->words[i * LINE_WORDS] == counts[i]);
    CHECK(in_used->words[i * LINE_WORDS + 1] == counts[i]);
  }
}

TEST(closed_while_its_threads_use_another_pool) {
  in_closed = make(&closed, "closed");
  in_used = make(&used, "used");
  for (uint64_t round = 1; round <= ROUNDS; round++)
    one_round(round);
  CHECK(nvm_pool_close(closed) == 0 && nvm_pool_close(used) == 0);
}

static pthread_barrier_t barrier;
static pthread_mutex_t released = PTHREAD_MUTEX_INITIALIZER;

/* Others may depend on what it has stored; as it passes commit points, no release ends that. */
static void *store_and_release(void *also) {
  __nvm_commit_point();
  CHECK(pthread_mutex_lock(&released) == 0);
  STORE(in_closed->words[0], 7);
  if (also)
    STORE(in_used->words[0], 8);
  CHECK(pthread_mutex_unlock(&released) == 0);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  if (!also) { /* its next transaction is one of the other pool alone */
    CHECK(nvm_tx_begin(used) == 0);
    STORE(in_used->words[0], 8);
    CHECK(nvm_tx_commit(used) == 0);
  }
  return NULL;
}

static void begin_handing_on(pthread_t *thread, bool also) {
  in_closed = make(&closed, "closed");
  in_used = make(&used, "used");
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(thread, NULL, store_and_release, also ? &barrier : NULL) == 0);
  pthread_barrier_wait(&barrier);
}

static void both_are_there(void) {
  CHECK(nvm_pool_close(used) == 0);
  closed = test_open(test_path("closed"));
  used = test_open(test_path("used"));
  CHECK(((struct data *)nvm_pool_root(closed))->words[0] == 7);
  CHECK(((struct data *)nvm_pool_root(used))->words[0] == 8);
  CHECK(nvm_pool_close(closed) == 0 && nvm_pool_close(used) == 0);
}

TEST(closed_over_a_thread_that_has_handed_on) {
  pthread_t thread;
  begin_handing_on(&thread, false);
  CHECK(nvm_pool_close(closed) == 0);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  both_are_there();
}

/* A part of what it has handed on is not committed without the rest. */
TEST(not_closed_over_a_part_of_what_a_thread_has_handed_on) {
  pthread_t thread;
  begin_handing_on(&thread, true);
  CHECK_FAILS(nvm_pool_close(closed) == 0, NVM_EOPENTX);
  CHECK(strstr(nvm_strerror(), "only that thread can commit"));
  CHECK(in_closed->words[0] == 7);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(nvm_pool_close(closed) == 0);
  both_are_there();
}
