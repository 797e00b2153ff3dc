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

#include <sys/mman.h>

static const uint64_t LEAVING_NS = UINT64_C(10000000000); /* for threads that end to have ended */
static const uint64_t SOON_NS = UINT64_C(100000000); /* for commits of several threads at once */

static int fail_open(const struct nvm_pool *pool, const char *what) {
  return nvmi_fail(NVM_EOPENTX, pool->path, "%s", what);
}

static bool has_touched(const struct nvmi_thread *owner, const struct nvm_pool *pool) {
  return owner && owner->touched >> pool->index & 1;
}

/* Of this thread; others' is found when it is taken over. `leaving`: some thread ends, and what it joined may be
 * its own. */
static int check_none_open(const struct nvm_pool *pool, bool leaving) {
  const struct nvmi_thread *self = nvmi_self;
  if (pool->parcels && !leaving)
    return fail_open(pool, "a thread's commit is under way; wait for that first");
  if (!has_touched(self, pool))
    return 0;
  if (nvmi_in_transaction(self))
    return fail_open(pool, "a thread has a transaction open; commit or abort it first");
  if (nvmi_order_waits(self))
    return fail_open(pool, "what was stored outside transactions has to wait for another "
                           "thread's open transaction; commit or abort that first");
  return 0;
}

static bool has_leaving(const struct nvm_pool *pool) {
  for (unsigned i = 0; i < pool->log_count; i++)
    if (pool->logs[i]->owner && pool->logs[i]->owner->leaves)
      return true;
  return false;
}

/* A program cannot know when a detached thread has ended: what such a one has stored it commits by
 * itself, meanwhile. It may have to wait for a transaction that is still open. With the lock of
 * threads, then none begins to end. */
static int await_leaving(const struct nvm_pool *pool) {
  uint64_t now = nvmi_now_ns(), deadline = now + LEAVING_NS, soon = now + SOON_NS;
  for (unsigned tries = 0;; tries++) {
    nvmi_threads_lock();
    bool some = has_leaving(pool) || (pool->parcels && nvmi_now_ns() < soon);
    int result = check_none_open(pool, some);
    if (!result && !some)
      return 0;
    if (!result && nvmi_now_ns() > deadline)
      result = fail_open(pool, "a thread that ends waits for another's open transaction; commit or "
                               "abort that first");
    nvmi_threads_unlock();
    if (result)
      return -1;
    nvmi_pause(tries);
  }
}

static int tell_of_error(const struct nvm_pool *pool, enum nvm_error error) {
  if (error && error != NVM_EUNSAFE) /* else recorded where it was found */
    nvmi_fail(error, pool->path, "stores outside transactions could not be committed");
  return error ? -1 : 0;
}

static int commit_own(struct nvmi_log *log) {
  if (!has_touched(log->owner, log->pool))
    return 0;
  log->stats.implicit_commits++;
  return tell_of_error(log->pool, nvmi_tx_finish(log->owner, true));
}

/* What was stored in place the owner's fences cover, not this thread's: taking over makes a barrier in all
 * threads, giving back a fence. */
static int commit_of_another(struct nvmi_log *log) {
  enum nvm_error error = NVM_OK;
  struct nvmi_thread *state = nvmi_tx_take_over(log);
  if (!state)
    return -1;
  if (state->touched) {
    log->stats.implicit_commits++;
    error = nvmi_tx_finish(state, true);
  }
  int result = tell_of_error(log->pool, error);
  nvmi_tx_give_back(state, log);
  return result;
}

static int commit_implicit(struct nvm_pool *pool) {
  int result = 0;
  for (unsigned i = 0; i < pool->log_count && !result; i++) {
    struct nvmi_log *log = pool->logs[i];
    if (log->owner)
      result = log->owner == nvmi_self ? commit_own(log) : commit_of_another(log);
  }
  return result;
}

int nvmi_log_close_all(struct nvm_pool *pool) {
  if (await_leaving(pool))
    return -1;
  int result = commit_implicit(pool);
  nvmi_threads_unlock();
  return result;
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
