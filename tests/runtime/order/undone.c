/* undone.c: what a thread has to do with another's transaction that was undone. */
#include "core/thread.h"
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <pthread.h>
#include <sched.h>

static void wait_for(_Atomic unsigned *counter, unsigned value) {
  while (*counter < value)
    sched_yield();
}

struct reader {
  NVM_POOL *pool;
  uint64_t *words;
  pthread_mutex_t lock;
  _Atomic unsigned step;
};

static void *write_and_abort(void *argument) {
  struct reader *r = argument;
  CHECK(nvm_tx_begin(r->pool) == 0);
  pthread_mutex_lock(&r->lock);
  STORE(r->words[0], 1);
  pthread_mutex_unlock(&r->lock);
  r->step = 1;
  wait_for(&r->step, 2);
  CHECK(nvm_tx_abort(r->pool) == 0);
  return NULL;
}

static pthread_t start(struct reader *r) {
  *r = (struct reader){.pool = test_create(test_path("pool"), 2 << 20)};
  pthread_mutex_init(&r->lock, NULL);
  CHECK(nvm_tx_begin(r->pool) == 0);
  r->words = nvm_calloc(r->pool, 0, 200, 8);
  CHECK(nvm_pool_set_root(r->pool, r->words) == 0 && nvm_tx_commit(r->pool) == 0);
  pthread_t writer;
  CHECK(pthread_create(&writer, NULL, write_and_abort, r) == 0);
  wait_for(&r->step, 1);
  return writer;
}

/* Who only looked, before its transaction began, has nothing to do with what was undone since. */
TEST(order_reader_outlives_an_abort) {
  struct reader r;
  pthread_t writer = start(&r);
  pthread_mutex_lock(&r.lock);
  CHECK(r.words[0] == 1 && nvmi_self->node);
  pthread_mutex_unlock(&r.lock);
  r.step = 2;
  CHECK(pthread_join(writer, NULL) == 0 && nvmi_self->node);
  CHECK(nvm_tx_begin(r.pool) == 0 && !nvmi_self->node);
  STORE(r.words[100], r.words[0] + 7);
  CHECK(nvm_tx_commit(r.pool) == 0 && r.words[100] == 7);
  CHECK(nvm_pool_close(r.pool) == 0);
}

/* What it needs it keeps from one to the next. */
TEST(abort_asks_the_kernel_for_nothing) {
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, 200, 8);
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  unsigned unmapped = 0;
  for (uint64_t i = 0; i < 100; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    for (uint64_t word = 0; word < 200; word += 1 + i % 30)
      STORE(words[word], word + i);
    CHECK(nvm_tx_abort(pool) == 0);
    for (uint64_t word = 0; word < 200; word++)
      CHECK(words[word] == 0);
    if (i == 10)
      unmapped = hook_unmapped;
  }
  CHECK(hook_unmapped == unmapped);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
