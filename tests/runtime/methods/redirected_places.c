/* redirected_places.c: where new values of a redirected program are: in a table, handed over, or in place
 * (core/regions.h).
 */
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include "core/handed.h"
#include "core/pool.h"
#include "core/regions.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
  SIZE = 200000, /* of the block */
  SAME_SLOT =
      NVM_LINE_SLOTS * NVM_LINE_SIZE, /* a line so far away has the same place in the table */
  REGION = 1 << NVMI_REGION_SHIFT
};

static struct {
  NVM_POOL *pool;
  unsigned char *bytes;
  pthread_mutex_t lock;
  _Atomic int step;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void open_at(const char *path, size_t size) {
  __nvm_describe_accesses(NVM_REDIRECTED, &NVM_REDIRECTED[1]);
  all.pool = test_create(path, size);
  CHECK(nvm_tx_begin(all.pool) == 0);
  all.bytes = nvm_calloc(all.pool, 0, 1, SIZE);
  CHECK(all.bytes && nvm_pool_set_root(all.pool, all.bytes) == 0);
  CHECK(nvm_tx_commit(all.pool) == 0);
}

static void begin(void) { CHECK(nvm_tx_begin(all.pool) == 0); }
static void commit(void) { CHECK(nvm_tx_commit(all.pool) == 0); }

static void store_in_place(size_t at, unsigned char value) {
  __nvm_settle(&all.bytes[at], 1);
  store_bytes(&all.bytes[at], &value, 1);
}

static unsigned char in_place(size_t at) {
  __nvm_settle(&all.bytes[at], 1);
  return ((volatile unsigned char *)all.bytes)[at];
}

static void close_and_find(size_t at, unsigned char wanted) {
  CHECK(nvm_pool_close(all.pool) == 0);
  all.pool = test_open(test_path("pool"));
  all.bytes = nvm_pool_root(all.pool);
  CHECK(__nvm_get(&all.bytes[at], 1) == wanted);
}

/* The byte is in place, then its line leaves the table: the next store makes an alias, which is newer. */
TEST_WRAPPED(alias_of_what_left_the_table) {
  open_at(test_path("pool"), 4 << 20);
  begin();
  store_in_place(64, 1);
  store_in_place(64 + SAME_SLOT, 1);
  __nvm_put(&all.bytes[64], 2, 1);
  CHECK(__nvm_get(&all.bytes[64], 1) == 2);
  commit();
  CHECK(__nvm_get(&all.bytes[64], 1) == 2 && in_place(64) == 2);
  close_and_find(64, 2);
  begin();
  store_in_place(64, 3);
  store_in_place(64 + SAME_SLOT, 3);
  __nvm_put(&all.bytes[64], 4, 1);
  CHECK(in_place(64) == 4 && nvm_tx_abort(all.pool) == 0);
  CHECK(in_place(64) == 2 && in_place(64 + SAME_SLOT) == 1);
  close_and_find(64, 2);
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* The same, and the lock is released before the commit: what it hands over is the newer one. */
TEST_WRAPPED(alias_of_what_left_the_table_is_released) {
  open_at(test_path("pool"), 4 << 20);
  begin();
  pthread_mutex_lock(&all.lock);
  store_in_place(64, 1);
  store_in_place(64 + SAME_SLOT, 1);
  __nvm_put(&all.bytes[64], 2, 1);
  pthread_mutex_unlock(&all.lock);
  CHECK(__nvm_get(&all.bytes[64], 1) == 2 && in_place(64) == 2);
  commit();
  close_and_find(64, 2);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void *store_and_release(void *unused) {
  begin();
  pthread_mutex_lock(&all.lock);
  __nvm_put(&all.bytes[128], 7, 1);
  __nvm_put(&all.bytes[129], 7, 1);
  pthread_mutex_unlock(&all.lock);
  all.step = 1;
  while (all.step < 2)
    sched_yield();
  commit();
  return unused;
}

/* What another thread has handed over is in place for who looks there, and is stored over. */
TEST_WRAPPED(handed_over_and_looked_at_in_place) {
  open_at(test_path("pool"), 4 << 20);
  pthread_t other;
  CHECK(pthread_create(&other, NULL, store_and_release, NULL) == 0);
  while (all.step < 1)
    sched_yield();
  begin();
  pthread_mutex_lock(&all.lock);
  CHECK(in_place(128) == 7 && __nvm_get(&all.bytes[129], 1) == 7);
  store_in_place(128, 8);
  CHECK(__nvm_get(&all.bytes[128], 1) == 8 && in_place(129) == 7);
  pthread_mutex_unlock(&all.lock);
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(__nvm_get(&all.bytes[128], 1) == 8 && in_place(128) == 8);
  commit();
  CHECK(nvmi_handed_count == 0);
  close_and_find(128, 8);
  CHECK(__nvm_get(&all.bytes[129], 1) == 7 && nvm_pool_close(all.pool) == 0);
}

/* A private region ends behind the heap; then the heap grows. Nothing of an open transaction is in the file. */
TEST_ONCE(private_region_grows_with_the_heap) {
  setenv("NVMOVE_METHOD", "lat", 1);
  setenv("NVMOVE_DOMAIN", "process", 1);
  open_at(test_path("pool"), 3 << 20);
  uint64_t end = all.pool->header.heap_offset + all.pool->header.heap_size;
  CHECK(end % REGION); /* else the last region is whole */
  begin();
  unsigned char value = 1;
  store_bytes(all.pool->work + end - 4096, &value, 1);
  CHECK(nvmi_region_is_private(all.pool, end - 1) && nvm_tx_abort(all.pool) == 0);
  begin();
  void *large = nvm_alloc(all.pool, 0, 8 << 20);
  CHECK(large && all.pool->header.heap_offset + all.pool->header.heap_size > end);
  commit();
  begin();
  store_bytes(all.pool->work + end, &value, 1);
  CHECK(all.pool->work[end] == 1 && all.pool->home[end] == 0);
  CHECK(nvm_tx_abort(all.pool) == 0 && all.pool->work[end] == 0);
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* One thread makes the region private, another stores in it meanwhile: not before it is. */
static void *store_meanwhile(void *unused) {
  begin();
  while (all.step < 1)
    sched_yield();
  store_in_place(SIZE - 1, 5);
  CHECK(all.step == 2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

static void slowly(void) {
  int before = 0;
  if (!atomic_compare_exchange_strong(&all.step, &before, 1))
    return;
  usleep(30000);
  all.step = 2;
}

TEST_ONCE(nobody_stores_in_a_region_before_it_is_private) {
  setenv("NVMOVE_METHOD", "lat", 1);
  setenv("NVMOVE_DOMAIN", "process", 1);
  open_at(test_path("pool"), 4 << 20);
  uint64_t own = nvmi_offset(all.pool, all.bytes) >> NVMI_REGION_SHIFT;
  nvmi_handed_own(all.pool, (own ? own - 1 : own + 1) << NVMI_REGION_SHIFT); /* another one */
  pthread_t other;
  CHECK(pthread_create(&other, NULL, store_meanwhile, NULL) == 0);
  begin();
  hook_map = slowly;
  store_in_place(SIZE - 100, 3);
  hook_map = NULL;
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(nvm_tx_abort(all.pool) == 0);
  const char *file = all.pool->home + nvmi_offset(all.pool, all.bytes);
  CHECK(file[SIZE - 1] == 0 && file[SIZE - 100] == 0);
  CHECK(all.bytes[SIZE - 1] == 0 && all.bytes[SIZE - 100] == 0);
  CHECK(nvm_pool_close(all.pool) == 0);
}
