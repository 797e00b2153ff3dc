/* standstill.c: see standstill.h. */
#include "core/standstill.h"

#include "base/clock.h"
#include "base/pause.h"
#include "base/signals.h"
#include "core/barrier.h"
#include "core/gate.h"
#include "core/log_state.h"
#include "core/map.h"

#include <assert.h>

static const uint64_t PATIENCE_NS = UINT64_C(1000000000); /* for transactions that end */

enum { HOLDS = 64 }; /* looks at what the others are at, without letting those go that stand */

static struct nvmi_mutex *const quiesce_lock = &nvmi_locks[NVMI_LOCK_QUIESCE];

/* A thread does not go away meanwhile. The barrier orders what is read here, as in dram_limit.c. */
__attribute__((no_sanitize("thread"))) bool nvmi_others_work(const struct nvm_pool *pool) {
  for (unsigned i = 0; i < pool->log_count; i++) {
    struct nvmi_thread *owner = pool->logs[i]->owner;
    if (!owner || owner == nvmi_self)
      continue;
    if (owner->busy)
      return true;
    nvmi_sees_at_rest(owner);
  }
  return false;
}

/* Who looks at a gate looks at this, too: no gate needs to be shut. */
static void stop_all(void) {
  __atomic_store_n(&nvmi_slow.stopped, true, __ATOMIC_RELAXED);
  if (!nvmi_barrier_in_all_threads())
    nvmi_fatal(NVM_ESYSTEM, NULL, NVMI_NO_BARRIER);
}

static void let_all_go(void) { __atomic_store_n(&nvmi_slow.stopped, false, __ATOMIC_RELEASE); }

/* Whether nobody is at work in these pools. False as well where somebody holds the lock of one; then
 * `*locked` is that pool. */
static bool all_rest(uint64_t pools, struct nvm_pool **locked) {
  bool rest = true;
  for (*locked = NULL; pools && rest; pools &= pools - 1) {
    struct nvm_pool *pool = nvmi_pool_number((unsigned)__builtin_ctzll(pools));
    if (!nvmi_try_lock(&pool->lock)) {
      *locked = pool;
      return false;
    }
    rest = !nvmi_others_work(pool);
    nvmi_unlock(&pool->lock);
  }
  return rest;
}

static sigset_t before_stop; /* signals that were blocked; of the thread that has `quiesce_lock` */

/* At work twice over, the thread itself goes on; its signal handlers, which might store before that,
 * wait. Who holds a pool's lock may be interrupted by a handler that waits at a gate: all go on until
 * the lock is free. Who shrinks a view holds the lock, too, and keeps its gate shut for itself. */
void nvmi_stop_others(struct nvmi_thread *thread, uint64_t pools) {
  struct nvm_pool *locked;
  sigset_t before = nvmi_signals_hold();
  nvmi_lock(quiesce_lock);
  before_stop = before;
  for (unsigned tries = 0;; tries++) {
    stop_all();
    if (all_rest(pools, &locked))
      break;
    if (locked) {
      let_all_go();
      nvmi_lock(&locked->lock);
      nvmi_unlock(&locked->lock);
    } else {
      if (tries % HOLDS ==
          HOLDS - 1) /* a handler, above one that is at work, may wait for another thread */
        let_all_go();
      nvmi_pause(tries);
    }
  }
  thread->busy++;
  nvmi_compiler_barrier();
}

void nvmi_let_others(struct nvmi_thread *thread) {
  nvmi_compiler_barrier();
  assert(thread->busy > 0 && nvmi_all_stand());
  thread->busy--;
  let_all_go();
  sigset_t before = before_stop;
  nvmi_unlock(quiesce_lock);
  nvmi_signals_release(&before);
}

/* In a standstill. A thread that is ending what it had open here may still use it; one that waits for its turn
 * meanwhile uses nothing but what it has touched. */
__attribute__((no_sanitize("thread"))) static void
look_at(const struct nvmi_thread *owner, const struct nvm_pool *pool, struct nvmi_others *others) {
  bool begun = owner->begun || owner->frames.count;
  if (begun)
    others->begun = owner->id;
  if (owner->touched >> pool->index & 1) {
    others->stored = owner->id;
    others->in_begun = begun;
    others->leaves = owner->leaves;
  } else if (owner->uses_open && !owner->awaits) {
    others->ends = owner->id;
  }
}

bool nvmi_has_others(const struct nvm_pool *pool) {
  for (unsigned i = 0; i < pool->log_count; i++)
    if (pool->logs[i]->owner && pool->logs[i]->owner != nvmi_self)
      return true;
  return false;
}

/* Nobody waits for a lock in a standstill. */
static bool look_and_do(struct nvm_pool *pool, struct nvmi_others *others,
                        void (*last)(struct nvm_pool *pool)) {
  if (!nvmi_try_lock(&pool->lock))
    return false;
  *others = (struct nvmi_others){.joined = pool->parcels};
  for (unsigned i = 0; i < pool->log_count; i++)
    if (pool->logs[i]->owner && pool->logs[i]->owner != nvmi_self)
      look_at(pool->logs[i]->owner, pool, others);
  if (last && !others->stored && !others->ends && !others->joined)
    last(pool);
  nvmi_unlock(&pool->lock);
  return true;
}

void nvmi_others_look(struct nvm_pool *pool, struct nvmi_others *others,
                      void (*last)(struct nvm_pool *pool)) {
  struct nvmi_thread *self = nvmi_thread_self();
  *others = (struct nvmi_others){.joined = pool->parcels};
  nvmi_lock(&pool->lock);
  bool looked = !nvmi_has_others(pool);
  nvmi_unlock(&pool->lock);
  for (unsigned tries = 0; !looked; tries++) {
    if (tries)
      nvmi_pause(tries);
    nvmi_stop_others(self, UINT64_C(1) << pool->index);
    looked = look_and_do(pool, others, last);
    nvmi_let_others(self);
  }
}

bool nvmi_others_have_open(struct nvm_pool *pool) {
  uint64_t deadline = nvmi_now_ns() + PATIENCE_NS;
  struct nvmi_others others;
  for (unsigned tries = 0;; tries++) {
    nvmi_others_look(pool, &others, NULL);
    if (others.stored || others.begun || others.joined)
      return true;
    if (!others.ends || nvmi_now_ns() >= deadline)
      return others.ends;
    nvmi_pause(tries);
  }
}

void nvmi_standstill_forget(void) { nvmi_slow.stopped = false; }
