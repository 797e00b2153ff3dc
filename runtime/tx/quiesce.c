/* quiesce.c: see quiesce.h. */
#define _GNU_SOURCE
#include "tx/quiesce.h"
#include "base/uncancelled.h"

#include "base/clock.h"
#include "base/pause.h"
#include "base/signals.h"
#include "core/barrier.h"
#include "core/follower.h"
#include "core/gate.h"
#include "core/standstill.h"
#include "heap/heap_types.h"
#include "log/log.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  QUIESCED_SECONDS_MAX = 60,
  QUIESCE_SECONDS_MAX = 2, /* until every thread was seen between two pieces of work */
  ALIVE_MS = 100           /* how often it is looked whether who asks still lives */
};

/* One thread of a process at a time. */
static struct nvmi_mutex *const quiesce_lock = &nvmi_locks[NVMI_LOCK_QUIESCE];
static _Atomic uint64_t answering; /* bits: pools that a thread answers for */

static int give_up(struct nvm_pool *pool, enum nvm_error error, const char *why) {
  nvmi_gate_open(&pool->gate, NVMI_GATE_QUIESCE);
  nvmi_unlock(&pool->lock);
  nvmi_unlock(quiesce_lock);
  return nvmi_fail(error, pool->path, "%s", why);
}

/* Who is at work may need the pool's lock to finish, so it is given away in between. The other
 * locks come last: who holds one is at work, or is the follower. */
int nvmi_quiesce(struct nvm_pool *pool) {
  double end = nvmi_now() + QUIESCE_SECONDS_MAX;
  nvmi_lock(quiesce_lock);
  for (unsigned tries = 0;; tries++) {
    nvmi_lock(&pool->lock);
    nvmi_gate_shut(&pool->gate, NVMI_GATE_QUIESCE);
    if (nvmi_has_others(pool) && !nvmi_barrier_in_all_threads())
      return give_up(pool, NVM_ESYSTEM, NVMI_NO_BARRIER);
    if (!nvmi_others_work(pool))
      break;
    if (nvmi_now() > end)
      return give_up(pool, NVM_EBUSY, "its threads do not come to rest");
    nvmi_unlock(&pool->lock);
    nvmi_pause(tries);
  }
  if (pool->follower)
    pool->follower->pause(pool);
  nvmi_lock(&pool->heap->lock);
  return 0;
}

void nvmi_thaw(struct nvm_pool *pool) {
  assert(pool->gate & NVMI_GATE_QUIESCE);
  nvmi_unlock(&pool->heap->lock);
  if (pool->follower)
    pool->follower->go_on(pool);
  nvmi_gate_open(&pool->gate, NVMI_GATE_QUIESCE);
  nvmi_unlock(&pool->lock);
  nvmi_unlock(quiesce_lock);
}

/* Whether a process holds the byte. */
static bool is_alive(const struct nvm_pool *pool) {
  struct flock byte = {
      .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = NVM_BACKUP_BYTE, .l_len = 1};
  return NVMI_UNCANCELLED(fcntl(pool->fd, F_OFD_GETLK, &byte)) == 0 && byte.l_type != F_UNLCK;
}

static void stay_quiesced(const struct nvm_pool *pool, uint64_t asked) {
  struct nvm_backup_words *words = nvmi_backup_words(pool);
  struct timespec patience = {0, ALIVE_MS * 1000000L};
  for (double end = nvmi_now() + QUIESCED_SECONDS_MAX;
       __atomic_load_n(&words->asked, __ATOMIC_ACQUIRE) == asked && is_alive(pool) &&
       nvmi_now() < end;)
    syscall(SYS_futex, (uint32_t *)&words->asked, FUTEX_WAIT, (uint32_t)asked, &patience, NULL, 0);
}

static void answer(struct nvm_pool *pool, uint64_t asked) {
  struct nvm_backup_words *words = nvmi_backup_words(pool);
  if (!pool->is_copy && is_alive(pool) && nvmi_quiesce(pool) == 0) {
    __atomic_store_n(&words->answered, asked, __ATOMIC_RELEASE);
    syscall(SYS_futex, (uint32_t *)&words->answered, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    stay_quiesced(pool, asked);
    __atomic_store_n(&words->answered, 0, __ATOMIC_RELEASE);
    nvmi_thaw(pool);
  }
  /* Taken back for one that died or was not served: the next commit does not ask itself again. */
  __atomic_compare_exchange_n(&words->asked, &asked, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void answer_one(struct nvm_pool *pool) {
  sigset_t before = nvmi_signals_hold();
  uint64_t asked = __atomic_load_n(&nvmi_backup_words(pool)->asked, __ATOMIC_ACQUIRE);
  uint64_t bit = UINT64_C(1) << pool->index;
  if (asked && !(atomic_fetch_or(&answering, bit) & bit)) {
    answer(pool, asked);
    atomic_fetch_and(&answering, ~bit);
  }
  nvmi_signals_release(&before);
}

__attribute__((noinline)) void nvmi_backup_answer(const struct nvmi_thread *thread,
                                                  uint64_t pools) {
  if (thread != nvmi_self || thread->busy || thread->node || nvmi_in_transaction(thread))
    return;
  for (; pools; pools &= pools - 1) {
    struct nvm_pool *pool = thread->logs[__builtin_ctzll(pools)]->pool;
    if (!pool->forked && nvmi_backup_asked(pool))
      answer_one(pool);
  }
}

void nvmi_quiesce_forget(void) {
  answering = 0;
  nvmi_standstill_forget();
}
