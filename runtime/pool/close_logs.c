/* close_logs.c: the logs of a pool that is closed: what their owners have open ends, then they are
 * empty, and given back.
 */
#include "pool/close_logs.h"

#include "base/clock.h"
#include "base/pause.h"
#include "core/alias.h"
#include "core/sealed.h"
#include "heap/heap.h"
#include "log/log.h"
#include "log/log_read.h"
#include "order/order.h"
#include "pool/pool.h"
#include "tx/take_over.h"
#include "tx/tx.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

static const uint64_t LONG_NS = UINT64_C(10000000000);
static const uint64_t SOON_NS = UINT64_C(1000000000); /* for what the program has to end itself */

/* Why a pool cannot be closed now. */
enum obstacle { NONE, LEAVES, JOINED, LATER, WAITS, OPEN_THERE, TOGETHER, WITH_ROOTS, FAILED };

static const struct {
  uint64_t patience;  /* ns, while it is the same */
  const char *reason; /* of a thread */
} obstacles[] = {
    [LEAVES] = {LONG_NS, "ends, and waits for another thread's open transaction"},
    [JOINED] = {SOON_NS, "has a commit under way"},
    [LATER] = {LONG_NS, "commits all the time, and leaves no moment for the close"},
    [WAITS] = {SOON_NS,
               "has stored outside transactions what has to wait for another thread's open "
               "transaction"},
    [OPEN_THERE] = {0, "has a transaction open"},
    [TOGETHER] = {0,
                  "has stored to this pool and to others outside transactions, and has released a "
                  "lock since, so that only that thread can commit (nvm_tx_begin, nvm_tx_commit)"},
    [WITH_ROOTS] =
        {0, "has loaded the program's data and saves its roots with each commit, so that only that "
            "thread can commit (nvm_tx_begin, nvm_tx_commit)"},
};

static const enum obstacle of_taking[] = {[NVMI_TAKES_LATER] = LATER,
                                          [NVMI_WAITS] = WAITS,
                                          [NVMI_OPEN_THERE] = OPEN_THERE,
                                          [NVMI_TOGETHER] = TOGETHER,
                                          [NVMI_WITH_ROOTS] = WITH_ROOTS};

static bool has_touched(const struct nvmi_thread *owner, const struct nvm_pool *pool) {
  return owner && owner->touched >> pool->index & 1;
}

static enum obstacle tell_of_error(const struct nvm_pool *pool, enum nvm_error error) {
  if (error && error != NVM_EUNSAFE) /* else recorded where it was found */
    nvmi_fail(error, pool->path, "stores outside transactions could not be committed");
  return error ? FAILED : NONE;
}

static enum obstacle own_obstacle(const struct nvm_pool *pool) {
  const struct nvmi_thread *self = nvmi_self;
  if (!has_touched(self, pool))
    return NONE;
  if (nvmi_in_transaction(self))
    return OPEN_THERE;
  return nvmi_order_waits(self) ? WAITS : NONE;
}

static enum obstacle commit_own(struct nvmi_log *log) {
  if (!has_touched(log->owner, log->pool))
    return NONE;
  bool lost = nvmi_tx_await_taker(log->owner);
  log->stats.implicit_commits += !lost;
  enum nvm_error error = nvmi_tx_finish(log->owner, !lost);
  if (lost)
    nvmi_tx_told_of_loss(log->owner);
  return tell_of_error(log->pool, lost ? NVM_EBROKEN : error);
}

/* What was stored in place the owner's fences cover, not this thread's: taking over makes a barrier in all
 * threads, giving back a fence. */
static enum obstacle commit_of_another(struct nvmi_log *log) {
  enum nvm_error error = NVM_OK;
  enum nvmi_taking taking;
  struct nvmi_thread *owner = log->owner, *state = nvmi_tx_take_over(log, &taking);
  if (!state)
    return of_taking[taking];
  bool lost = owner->taken & NVMI_TAKEN_LOST; /* in another pool */
  if (state->touched) {
    log->stats.implicit_commits += !lost;
    error = nvmi_tx_finish(state, !lost);
  }
  if (lost && state->touched)
    error = NVM_EBROKEN;
  if (error)
    atomic_fetch_or(&owner->taken, NVMI_TAKEN_LOST);
  nvmi_tx_give_back(state);
  return tell_of_error(log->pool, error);
}

/* Others, whose logs are looked at when they are taken over, are not in it. A program cannot know when a detached
 * thread has ended: what such a one has stored it commits by itself. */
static enum obstacle obstacle_of(const struct nvm_pool *pool, int *thread) {
  for (unsigned i = 0; i < pool->log_count; i++) {
    const struct nvmi_thread *owner = pool->logs[i]->owner;
    if (owner && owner->leaves) {
      *thread = owner->id;
      return LEAVES;
    }
  }
  if (pool->parcels)
    return JOINED;
  *thread = nvmi_self ? nvmi_self->id : 0;
  return own_obstacle(pool);
}

/* Under the lock of threads: all logs are empty then, and nobody's or this thread's. */
static enum obstacle commit_all(struct nvm_pool *pool, int *thread) {
  enum obstacle obstacle = obstacle_of(pool, thread);
  for (unsigned i = 0; i < pool->log_count && obstacle == NONE; i++) {
    struct nvmi_log *log = pool->logs[i];
    if (!log->owner)
      continue;
    *thread = log->owner->id;
    obstacle = log->owner == nvmi_self ? commit_own(log) : commit_of_another(log);
  }
  return obstacle;
}

static int refuse(const struct nvm_pool *pool, enum obstacle obstacle, int thread) {
  char who[32] = "another thread";
  if (thread)
    snprintf(who, sizeof who, "thread %d", thread);
  return nvmi_fail(NVM_EOPENTX, pool->path, "%s %s", who, obstacles[obstacle].reason);
}

/* Between two looks threads may end, and fork. */
int nvmi_log_close_all(struct nvm_pool *pool) {
  uint64_t start = nvmi_now_ns(), since = start;
  enum obstacle before = NONE;
  for (unsigned tries = 0;; tries++) {
    int thread = 0;
    nvmi_threads_lock();
    enum obstacle obstacle = commit_all(pool, &thread);
    nvmi_threads_unlock();
    if (obstacle == NONE || obstacle == FAILED)
      return obstacle == NONE ? 0 : -1;
    uint64_t now = nvmi_now_ns();
    if (obstacle != before)
      since = now;
    before = obstacle;
    if (now - since >= obstacles[obstacle].patience || now - start > LONG_NS)
      return refuse(pool, obstacle, thread);
    nvmi_pause(tries);
  }
}

void nvmi_log_shrink(struct nvm_pool *pool) {
  const struct nvm_log_slot *slots = (const void *)(pool->home + NVM_SLOTS_OFFSET);
  for (unsigned i = 0; i < NVM_SLOTS_MAX && slots[i].bank[0]; i++) { /* a crash left some */
    for (unsigned bank = 0; bank < 2; bank++) {
      struct nvm_segment *first = (void *)(pool->home + slots[i].bank[bank]);
      if (!nvmi_segment_valid(pool, slots[i].bank[bank], i, bank, 0) || !first->next)
        continue;
      first->next = 0;
      pool->persist->flush(first, sizeof *first);
    }
  }
  pool->persist->fence();
}

void nvmi_log_free_all(struct nvm_pool *pool) {
  nvmi_threads_lock();
  nvmi_lock(&nvmi_locks[NVMI_LOCK_FREEZER]); /* whose owner looks at logs */
  for (unsigned i = 0; i < pool->log_count; i++) {
    struct nvmi_log *log = pool->logs[i];
    if (log->owner) {
      log->owner->logs[pool->index] = NULL;
      if (has_touched(log->owner, pool)) /* in a child of fork; else the word is another thread's */
        nvmi_untouch(log->owner, UINT64_C(1) << pool->index);
    }
    nvmi_array_free(&log->operations, sizeof(uint64_t));
    nvmi_array_free(&log->intents.list, sizeof(struct nvmi_intent));
    nvmi_ready_free(log);
    nvmi_array_free(&log->sealed, sizeof(struct nvmi_sealed));
    nvmi_alias_free(log);
    nvmi_array_free(&log->straight.large, 2 * sizeof(uint64_t));
    nvmi_array_free(&log->straight.items, sizeof(size_t));
    nvmi_array_free(&log->straight.single, sizeof(struct nvmi_line));
    nvmi_array_free(&log->entries, sizeof(struct nvm_frame *));
    munmap(log, sizeof *log);
  }
  pool->log_count = 0;
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_FREEZER]);
  nvmi_threads_unlock();
}
