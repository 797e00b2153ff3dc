/* close_logs.c: the logs of a pool that is closed.
 *
 * What a thread has open is tied to its nodes, to the roots of a port and to blocks that others know of; and
 * the thread promises, at its next begin or release of a lock, that it is committed. So each thread ends its own.
 * A close commits what its own thread has open, and waits until the others have nothing. Then it takes their
 * logs away: all or none, in a standstill (core/standstill.h), in which nobody is in the middle of a store
 * or of an end in this pool.
 */
#include "pool/close_logs.h"

#include "base/pause.h"
#include "core/alias.h"
#include "core/captured.h"
#include "core/standstill.h"
#include "heap/heap.h"
#include "log/log.h"
#include "log/log_read.h"
#include "order/order.h"
#include "pool/pool.h"
#include "tx/tx.h"
#include "tx/tx_order.h"

#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

/* Looks, of two milliseconds or more each but for the first few: time in which the others could run. */
enum {
  AT_ONCE = 0,
  A_SECOND = 500, /* for what the program has to end itself */
  TEN_SECONDS = 5000,
  NAPS = 20 /* between two looks: each stops all threads */
};

/* Why a pool cannot be closed now. */
enum obstacle { NONE, OPEN_THERE, WAITS, JOINED, STORED, ENDS, LEAVES, FAILED };

static const struct {
  unsigned patience;  /* looks, while it is the same */
  const char *reason; /* of a thread */
} obstacles[] = {
    [OPEN_THERE] = {AT_ONCE, "has a transaction open"},
    [WAITS] = {A_SECOND,
               "has stored outside transactions what has to wait for another thread's open "
               "transaction"},
    [JOINED] = {A_SECOND, "has a commit under way"},
    [STORED] = {A_SECOND,
                "has stored outside transactions and not committed, which only that thread can, by "
                "its end, a commit point, or nvm_tx_begin"},
    [ENDS] = {TEN_SECONDS, "is in the middle of a commit, or of the release of a lock"},
    [LEAVES] = {TEN_SECONDS, "ends, and waits for another thread's open transaction"},
};

static enum obstacle failed(const struct nvm_pool *pool, enum nvm_error error) {
  if (error != NVM_EUNSAFE) /* else recorded where it was found */
    nvmi_fail(error, pool->path,
              error == NVM_EBROKEN ? "what was stored outside transactions was undone"
                                   : "stores outside transactions could not be committed");
  return FAILED;
}

/* Commits what the calling thread has stored, or tells what it has lost. */
static enum obstacle end_own(const struct nvm_pool *pool) {
  struct nvmi_thread *self = nvmi_thread_self();
  nvmi_tx_save_roots(self);
  bool is_open = self->touched >> pool->index & 1;
  enum nvm_error error = self->has_lost ? NVM_EBROKEN : NVM_OK;
  if (nvmi_in_transaction(self))
    return is_open ? OPEN_THERE : NONE;
  if (is_open && nvmi_order_waits(self))
    return WAITS;
  if (is_open)
    error = nvmi_tx_finish_implicit(self);
  self->has_lost = false;
  return error ? failed(pool, error) : NONE;
}

/* In a standstill. Each owner finds afterwards that it has no log here. */
__attribute__((no_sanitize("thread"))) static void take_all(struct nvm_pool *pool) {
  for (unsigned i = 0; i < pool->log_count; i++) {
    struct nvmi_thread *owner = pool->logs[i]->owner;
    if (!owner || owner == nvmi_self)
      continue;
    owner->logs[pool->index] = NULL;
    pool->logs[i]->owner = NULL;
  }
}

/* A program cannot know when a detached thread has ended: what such a one has stored it commits by itself. */
static enum obstacle look_at_others(struct nvm_pool *pool, bool takes, int *thread) {
  struct nvmi_others others;
  nvmi_others_look(pool, &others, takes ? take_all : NULL);
  *thread = others.stored ? others.stored : others.ends;
  if (others.stored)
    return others.leaves ? LEAVES : others.in_begun ? OPEN_THERE : STORED;
  return others.ends ? ENDS : others.joined ? JOINED : NONE;
}

static int refuse(const struct nvm_pool *pool, enum obstacle obstacle, int thread) {
  char who[32] = "another thread";
  if (thread)
    snprintf(who, sizeof who, "thread %d", thread);
  return nvmi_fail(NVM_EOPENTX, pool->path, "%s %s", who, obstacles[obstacle].reason);
}

static void pause_before(unsigned looks) {
  enum { SOON = 32 };
  for (unsigned naps = 0; naps < NAPS; naps++)
    nvmi_pause(looks < SOON ? 0 : UINT_MAX);
}

/* Between two looks threads may end, and fork. */
static int await_rest(struct nvm_pool *pool, bool takes) {
  enum obstacle before = NONE;
  unsigned since = 0;
  for (unsigned looks = 0;; looks++) {
    int thread = nvmi_thread_self()->id;
    enum obstacle obstacle = end_own(pool);
    if (obstacle == NONE)
      obstacle = look_at_others(pool, takes, &thread);
    if (obstacle == NONE || obstacle == FAILED)
      return obstacle == NONE ? 0 : -1;
    if (obstacle != before)
      since = looks;
    before = obstacle;
    if (looks - since >= obstacles[obstacle].patience || looks >= TEN_SECONDS)
      return refuse(pool, obstacle, thread);
    pause_before(looks);
  }
}

int nvmi_logs_await_rest(struct nvm_pool *pool) { return await_rest(pool, false); }

int nvmi_logs_take(struct nvm_pool *pool) {
  if (await_rest(pool, true))
    return -1;
  for (unsigned i = 0; i < pool->log_count; i++)
    if (!pool->logs[i]->owner) { /* the standstill made a barrier in all threads */
      nvmi_fence(pool->logs[i]);
      pool->logs[i]->pending = 0;
    }
  return 0;
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
  nvmi_lock(&nvmi_locks[NVMI_LOCK_QUIESCE]); /* whose owner looks at logs */
  for (unsigned i = 0; i < pool->log_count; i++) {
    struct nvmi_log *log = pool->logs[i];
    if (log->owner) {
      log->owner->logs[pool->index] = NULL;
      if (log->owner->touched) /* in a child of fork; else by a handler of this thread, just now */
        nvmi_untouch(log->owner, UINT64_C(1) << pool->index);
    }
    nvmi_array_free(&log->operations, sizeof(uint64_t));
    nvmi_array_free(&log->intents.list, sizeof(struct nvmi_intent));
    nvmi_ready_free(log);
    nvmi_array_free(&log->captured, sizeof(struct nvmi_captured));
    nvmi_array_free(&log->covered, sizeof(struct nvmi_captured));
    nvmi_alias_free(log);
    nvmi_array_free(&log->direct.large, 2 * sizeof(uint64_t));
    nvmi_array_free(&log->direct.items, sizeof(size_t));
    nvmi_array_free(&log->direct.single, sizeof(struct nvmi_line));
    nvmi_array_free(&log->entries, sizeof(struct nvm_frame *));
    munmap(log, sizeof *log);
  }
  pool->log_count = 0;
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_QUIESCE]);
  nvmi_threads_unlock();
}
