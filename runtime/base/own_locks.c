/* own_locks.c: the runtime's own locks, past what locks.c sees, where that is linked. */
#define _GNU_SOURCE
#include "base/own_locks.h"
#include "base/basics.h"
#include "base/signals.h"
#include "base/uncancelled.h"

#include <assert.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct nvmi_mutex nvmi_locks[NVMI_RANKS] = {
    [0 ... NVMI_RANKS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}};

/* A thread's: locks that it holds or is about to, by rank; whether signals wait for their sake, and which
 * ones were blocked before; whether it is between the handlers of a fork, and which ones were blocked before
 * that. Its address names the thread. Found without a call, which might allocate in a signal handler. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
  unsigned char held[NVMI_RANKS];
  bool masks, forks;
  sigset_t before_locks, before_fork;
} self;

static enum nvmi_rank rank_of(const struct nvmi_mutex *lock) {
  return lock >= nvmi_locks && lock < nvmi_locks + NVMI_RANKS ? (enum nvmi_rank)(lock - nvmi_locks)
                                                              : lock->rank;
}

static bool holds_from(enum nvmi_rank rank) {
  bool held = false;
  for (unsigned i = rank; i < NVMI_RANKS; i++)
    held |= self.held[i];
  return held;
}

bool nvmi_has_locks(void) { return holds_from(0); }

bool nvmi_has_lock(const struct nvmi_mutex *lock) {
  return atomic_load_explicit(&lock->owner, memory_order_relaxed) == &self;
}

static void own(struct nvmi_mutex *lock, const void *owner) {
  atomic_store_explicit(&lock->owner, owner, memory_order_relaxed);
}

/* Handlers of the program that come between those of the runtime may use it. */
static bool is_own_again(struct nvmi_mutex *lock) {
  if (!self.forks || !nvmi_has_lock(lock))
    return false;
  lock->again++;
  return true;
}

static void let_signals_wait(enum nvmi_rank rank) {
  bool always = rank >= NVMI_LOCK_HEAP && rank <= NVMI_LOCK_SYNC;
  bool never = rank < NVMI_LOCK_QUIESCE || rank == NVMI_LOCK_ORDER;
  if (self.masks || never || (!always && nvmi_at_work && nvmi_at_work()))
    return;
  self.before_locks = nvmi_signals_hold();
  self.masks = true;
}

static void let_signals_come(void) {
  bool held = false;
  for (unsigned i = NVMI_LOCK_QUIESCE; i < NVMI_RANKS; i++)
    held |= self.held[i] && i != NVMI_LOCK_ORDER;
  if (held)
    return;
  sigset_t before = self.before_locks;
  self.masks = false;
  nvmi_signals_release(&before);
}

void nvmi_lock(struct nvmi_mutex *lock) {
  if (is_own_again(lock))
    return;
  assert(self.forks || !holds_from(rank_of(lock)));
  let_signals_wait(rank_of(lock));
  self.held[rank_of(lock)]++;
  if (nvmi_real_lock)
    nvmi_real_lock(&lock->mutex);
  else
    pthread_mutex_lock(&lock->mutex);
  own(lock, &self);
}

bool nvmi_try_lock(struct nvmi_mutex *lock) {
  if (is_own_again(lock))
    return true;
  let_signals_wait(rank_of(lock));
  self.held[rank_of(lock)]++;
  bool locked = (nvmi_real_try_lock ? nvmi_real_try_lock(&lock->mutex)
                                    : pthread_mutex_trylock(&lock->mutex)) == 0;
  if (locked)
    own(lock, &self);
  else
    self.held[rank_of(lock)]--;
  if (!locked && self.masks)
    let_signals_come();
  return locked;
}

void nvmi_unlock(struct nvmi_mutex *lock) {
  if (lock->again) {
    lock->again--;
    return;
  }
  own(lock, NULL);
  enum nvmi_rank rank = rank_of(lock);
  if (nvmi_real_unlock)
    nvmi_real_unlock(&lock->mutex);
  else
    pthread_mutex_unlock(&lock->mutex);
  self.held[rank]--;
  if (self.masks)
    let_signals_come();
}

void nvmi_wait(pthread_cond_t *condition, struct nvmi_mutex *lock, unsigned ms) {
  own(lock, NULL);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  uint64_t ns = (uint64_t)until.tv_nsec + ms * UINT64_C(1000000);
  until.tv_sec += (time_t)(ns / 1000000000);
  until.tv_nsec = (long)(ns % 1000000000);
  if (nvmi_real_wait)
    NVMI_UNCANCELLED(nvmi_real_wait(condition, &lock->mutex, &until));
  else
    NVMI_UNCANCELLED(pthread_cond_clockwait(condition, &lock->mutex, CLOCK_MONOTONIC, &until));
  own(lock, &self);
}

void nvmi_mutex_add(struct nvmi_mutex *lock, enum nvmi_rank rank) {
  *lock = (struct nvmi_mutex){.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = rank};
  nvmi_lock(&nvmi_locks[NVMI_LOCK_LISTS]);
  lock->next = nvmi_locks[rank].next;
  nvmi_locks[rank].next = lock;
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_LISTS]);
}

void nvmi_mutex_remove(struct nvmi_mutex *lock) {
  nvmi_lock(&nvmi_locks[NVMI_LOCK_LISTS]);
  struct nvmi_mutex **at = &nvmi_locks[lock->rank].next;
  while (*at != lock)
    at = &(*at)->next;
  *at = lock->next;
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_LISTS]);
  pthread_mutex_destroy(&lock->mutex);
}

static void take(struct nvmi_mutex *lock, bool waits) {
  if (nvmi_has_lock(lock))
    return; /* by what the handler interrupted */
  if (waits)
    nvmi_lock(lock);
  if (waits || nvmi_try_lock(lock))
    lock->for_fork = true; /* else it is another thread's, who may fork, too */
}

static void give_back(struct nvmi_mutex *lock, bool in_child) {
  if (nvmi_has_lock(lock) && lock->for_fork) {
    lock->for_fork = false;
    nvmi_unlock(lock);
  } else if (!nvmi_has_lock(lock) && in_child) { /* of a thread that is not there */
    pthread_mutex_init(&lock->mutex, NULL);
    own(lock, NULL);
  }
}

/* Of a rank; the lists may change unless this thread has their lock. */
static struct nvmi_mutex *next(const struct nvmi_mutex *lock, bool in_child) {
  return in_child || nvmi_has_lock(&nvmi_locks[NVMI_LOCK_LISTS]) ? lock->next : NULL;
}

bool nvmi_locks_before_fork(bool at_work) {
  sigset_t before = nvmi_signals_hold();
  bool waits = !at_work && !holds_from(0);
  self.before_fork = before;
  self.forks = true;
  for (unsigned rank = 0; rank < NVMI_RANKS; rank++)
    for (struct nvmi_mutex *lock = &nvmi_locks[rank]; lock; lock = next(lock, false))
      take(lock, waits);
  return waits;
}

void nvmi_locks_after_fork(bool in_child) {
  for (unsigned rank = NVMI_RANKS; rank--;)
    for (struct nvmi_mutex *lock = &nvmi_locks[rank]; lock; lock = next(lock, in_child))
      give_back(lock, in_child);
  self.forks = false;
  sigset_t before = self.before_fork;
  nvmi_signals_release(&before);
}

void nvmi_each_module(int (*visit)(struct dl_phdr_info *info, size_t size, void *context),
                      void *context) {
  nvmi_lock(&nvmi_locks[NVMI_LOCK_MODULES]);
  dl_iterate_phdr(visit, context);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_MODULES]);
}

void nvmi_locks_look(void) {
  static _Atomic bool told;
  if (nvmi_locks_check)
    nvmi_locks_check();
  else if (!atomic_exchange(&told, true))
    nvmi_tell(
        "nvmove: this program was linked without libnvmove's lock functions: a lock that is "
        "released inside a transaction orders nothing (docs/reference/semantics.md); link it with "
        "nvmove-cc, or with -Wl,-u,__nvmi_locks\n");
}
