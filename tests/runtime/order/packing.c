/* packing.c: what a look at the pointers of an open transaction, and its way to another thread, leave as it
 * was (order/order_join.c).
 */
#include "core/tracing.h"
#include "handing.h"
#include "heap/heap.h"
#include "hooks.h"
#include "log/log.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"
#include "pointer.h"
#include "tx/tx.h"

#include <signal.h>
#include <string.h>

enum { LARGE = 4096, SIGNALS = 4 };

static unsigned barriers;
static void count_barrier(void) { barriers++; }

static struct pointer dram;

static struct pointer *prepare_pointer(void) {
  describe_pointer();
  prepare();
  begin();
  struct pointer *pointer = nvm_calloc(all.pool, POINTER_ID, 1, sizeof *pointer);
  CHECK(pointer);
  commit();
  return pointer;
}

/* Who has nothing to do with others stops nobody, whether its pointers are safe or not; nor does who
 * has, and none that is unsafe. */
TEST(packing_looks_without_a_barrier) {
  struct pointer *pointer = prepare_pointer();
  hook_barrier = count_barrier;
  STORE(pointer->to, &dram);
  CHECK(!nvmi_join_is_safe(nvmi_self) && barriers == 0);
  STORE(pointer->to, pointer);
  CHECK(nvmi_join_is_safe(nvmi_self) && barriers == 0);
  __nvm_commit_point();
  begin();
  store(0, 0, 1);
  CHECK(nvmi_self->node && nvmi_join_is_safe(nvmi_self) && barriers == 0);
  hook_barrier = NULL;
  commit();
  finish();
}

/* What was looked at is what is committed, whatever others have stored there since. */
TEST(packing_commits_what_was_looked_at) {
  prepare();
  begin();
  store(0, GAP, 1);
  STORE(all.words[0], 1);
  CHECK(nvmi_join_is_safe(nvmi_self));
  bool shadow = test_is_shadow(all.pool);
  if (shadow)
    *(volatile uint64_t *)&all.words[0] = 2; /* with undo it is in place */
  commit();
  CHECK(!shadow || ((uint64_t *)(all.pool->home + nvmi_offset(all.pool, all.words)))[0] == 1);
  *(volatile uint64_t *)&all.words[0] = 1;
  finish();
}

/* A release looks, and tells of nothing; whatever became of that transaction, the next one's commit names
 * what is unsafe. */
TEST(packing_names_what_is_unsafe_behind_a_look) {
  struct pointer *pointer = prepare_pointer();
  begin();
  pthread_mutex_lock(&all.lock[0]);
  STORE(pointer->to, pointer);
  pthread_mutex_unlock(&all.lock[0]);
  CHECK(nvm_tx_abort(all.pool) == 0);
  begin();
  STORE(pointer->to, &dram);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  CHECK(strstr(nvm_strerror(), "struct pointer") && !pointer->to);
  finish();
}

static struct pointer *shared;

static void *store_unsafe_over(void *unused) {
  begin();
  pthread_mutex_lock(&all.lock[0]);
  STORE(shared->to, &dram);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* Another's unsafe pointer, found on the way, is told to nobody else. */
TEST(packing_is_not_told_of_anothers) {
  shared = prepare_pointer();
  begin();
  pthread_mutex_lock(&all.lock[0]);
  STORE(shared->to, shared);
  pthread_mutex_unlock(&all.lock[0]);
  pthread_t other = start(store_unsafe_over, NULL);
  wait_for(1);
  CHECK(nvmi_join_is_safe(nvmi_self) && nvm_errno() == NVM_OK);
  commit();
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  finish();
}

static void post(int signal) {
  (void)signal;
  sem_post(&all.semaphore);
}

/* What handlers have stored is not looked at where one hands it on: the commit does, while all others
 * stand still. */
TEST(packing_looks_later_at_what_a_handler_stored) {
  prepare();
  signal(SIGUSR1, post);
  begin();
  STORE(all.words[0], 1);
  nvmi_self->busy++; /* as a handler that interrupts a note */
  STORE(all.words[GAP], 1);
  nvmi_self->busy--;
  raise(SIGUSR1);
  CHECK(nvmi_self->node->unsafe);
  hook_barrier = count_barrier;
  commit();
  hook_barrier = NULL;
  CHECK(barriers > 0);
  finish();
}

static const int signals[SIGNALS] = {SIGUSR1, SIGUSR2, SIGHUP, SIGWINCH};
static unsigned handled, packed;
static uint64_t numbers[2][2]; /* of the events */
static unsigned joins, adopts;

static void handle(int signal) {
  (void)signal;
  handled++;
}

static void event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t extra) {
  (void)pool, (void)place;
  if (kind == NVM_TRACE_JOIN) {
    numbers[0][joins++ & 1] = extra;
    for (unsigned i = 0; i < SIGNALS; i++)
      raise(signals[i]);
    packed += handled == 0;
  }
  if (kind == NVM_TRACE_ADOPT)
    numbers[1][adopts++ & 1] = extra;
}
static void alone(enum nvm_trace_kind kind, uint64_t extra) { (void)kind, (void)extra; }
static void stored(void *address, const void *bytes, size_t size, bool by_program) {
  (void)address, (void)bytes, (void)size, (void)by_program;
}
static unsigned released, acquired;
static void count_release(const void *lock) { released += lock == &all.lock[0]; }
static void count_acquire(const void *lock) { acquired += lock == &all.lock[0]; }
static const struct nvmi_trace_table counting = {.event = event,
                                                 .alone = alone,
                                                 .stored = stored,
                                                 .release = count_release,
                                                 .acquire = count_acquire};

static void trace(bool on) {
  nvmi_trace_table = on ? &counting : NULL;
  nvmi_slow.tracing = on;
}

static void pack(struct nvmi_array *parcels) {
  nvmi_order_lock();
  nvmi_join_pack(nvmi_self, parcels);
  nvmi_order_unlock();
}

/* Signals wait while a transaction is packed up: a handler that stores then finds it open, or gone. In
 * a trace each parcel has a number of its own, by which it is found where it goes. */
TEST(packing_is_in_one_go) {
  for (unsigned i = 0; i < SIGNALS; i++)
    signal(signals[i], handle);
  prepare();
  begin();
  trace(true);
  for (unsigned i = 0; i < 2; i++) {
    trace(false);
    store(0, i * GAP, 1);
    trace(true);
    handled = 0;
    pack(&nvmi_self->node->parcels);
    CHECK(handled == SIGNALS && packed == i + 1);
  }
  nvmi_join_unpack(nvmi_self);
  trace(false);
  CHECK(joins == 2 && adopts == 2 && memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0);
  CHECK(numbers[0][0] && numbers[0][0] != numbers[0][1]);
  commit();
  CHECK(all.words[0] == 1 && all.words[GAP] == 1);
  finish();
}

static void *take_over(void *unused) {
  wait_for(1);
  trace(true);
  pthread_mutex_lock(&all.lock[0]);
  trace(false);
  pthread_mutex_unlock(&all.lock[0]);
  return unused;
}

/* A trace has the release of a lock with something open, and who takes it over. */
TEST(packing_locks_are_traced) {
  prepare();
  pthread_t other = start(take_over, NULL);
  begin();
  pthread_mutex_lock(&all.lock[0]);
  STORE(all.words[0], 1);
  trace(true);
  pthread_mutex_unlock(&all.lock[0]);
  trace(false);
  CHECK(released == 1 && acquired == 0);
  all.step = 1;
  CHECK(pthread_join(other, NULL) == 0 && acquired == 1);
  commit();
  finish();
}

static struct nvmi_array handed;

static void *commit_handed(void *unused) {
  begin();
  store(1, GAP, 1);
  nvmi_order_lock();
  for (size_t i = 0; i < handed.count; i++)
    nvmi_order_push(&nvmi_self->node->parcels, (struct nvmi_parcel *)handed.items + i,
                    sizeof(struct nvmi_parcel));
  nvmi_order_unlock();
  commit();
  return unused;
}

/* A block that goes with it is no new one of this thread's any more: what is stored there since is
 * undone by itself. */
TEST(packing_takes_new_blocks_along) {
  prepare();
  begin();
  uint64_t *block = nvm_alloc(all.pool, 0, LARGE);
  CHECK(block && nvmi_self->fresh_count);
  STORE(block[GAP], 1);
  pack(&handed);
  CHECK(pthread_join(start(commit_handed, NULL), NULL) == 0 && block[GAP] == 1);
  STORE(block[GAP], 2);
  CHECK(!nvmi_self->fresh_stores && nvm_tx_abort(all.pool) == 0 && block[GAP] == 1);
  finish();
}
