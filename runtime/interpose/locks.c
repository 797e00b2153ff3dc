/* locks.c: the program's locks, seen as they are released and acquired.
 *
 * The functions of the C library that release or acquire a lock are defined here again, find the
 * library's own behind them, and tell order.c where it matters: at a release when the thread has
 * something uncommitted, at an acquisition when some open transaction has released a lock. Both
 * tests are one load and a branch; besides, a thread that has stored to a pool lists what it holds.
 * Locks that a program makes of atomic instructions are not seen. In a program that is linked
 * statically the library's own come first, and this file not at all: there the linker wraps the
 * names, and locks_wrapped.c stands behind.
 */
#define _GNU_SOURCE
#include "interpose/locks.h"

#include "base/own_locks.h"
#include "base/signal_frame.h"
#include "base/signals.h"
#include "core/gate.h"
#include "core/map.h"
#include "core/tracing.h"
#include "log/log.h"
#include "order/order.h"
#include "order/waits.h"
#include "tx/called.h"
#include "tx/tx_order.h"
#include "tx/wrap.h"

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#ifdef NVMI_WRAPPED
#define NAME(name) __wrap_##name
#define REAL(name)                                                                                 \
  extern __typeof__(name) __real_##name;                                                           \
  static inline __typeof__(name) *real_##name(void) { return __real_##name; }
#else
#define NAME(name) name

/* The sanitizers' own interceptors stand between: they define these names, too. */
static void *next(const char *name, void *sanitizer) {
  void *found = sanitizer ? sanitizer : dlsym(RTLD_NEXT, name);
  if (!found)
    nvmi_die(NULL, "the C library has no %s; link a static program with nvmove-cc", name);
  return found;
}

#define REAL(name)                                                                                 \
  extern __typeof__(name) __interceptor_##name __attribute__((weak));                              \
  static __typeof__(name) *real_##name(void) {                                                     \
    static __typeof__(name) *_Atomic real;                                                         \
    __typeof__(name) *known = atomic_load_explicit(&real, memory_order_relaxed);                   \
    if (NVMI_UNLIKELY(!known))                                                                     \
      real = known = (__typeof__(name) *)next(#name, (void *)__interceptor_##name);                \
    return known;                                                                                  \
  }
#endif

/* How a lock is held. */
enum kind { EXCLUSIVE, SHARED, SIGNAL /* a semaphore, by nobody */ };

/* Outside transactions: in a thread that passes no commit points each release ends what is open,
 * so that nobody waits for a thread that idles. Before the release, if it need not wait; else
 * behind it, where the thread may hold less. */
static void hand_on(struct nvmi_thread *thread, uintptr_t lock, bool in_handler,
                    bool holds_others) {
  nvmi_uses_open(thread);
  if (NVMI_UNLIKELY(thread->aliases) && !in_handler)
    nvmi_wrap_before_release(thread);
  if (!in_handler && nvmi_tx_ends_at_release(thread) && !nvmi_order_waits(thread))
    nvmi_tx_end_at_release(thread, holds_others);
  if (thread->touched || thread->node) {
    nvmi_order_release(lock, !in_handler, !in_handler && !holds_others);
    if (!in_handler)
      nvmi_note_called(thread); /* what was noted is captured */
  }
  nvmi_used_open(thread);
}

/* A handler may jump out of sem_post (SIGNAL), which is the one that POSIX has for handlers, too, also out of that
 * of another handler: signals wait. */
static __attribute__((noinline)) void tell_release(struct nvmi_thread *thread, uintptr_t lock,
                                                   enum kind kind, bool holds_others) {
  sigset_t before;
  if (nvmi_tracing)
    nvmi_trace_release((const void *)(lock & ~(uintptr_t)1));
  bool in_handler = kind == SIGNAL && (thread->ends || nvmi_in_signal_handler());
  if (kind == SIGNAL)
    before = nvmi_signals_hold();
  hand_on(thread, lock, in_handler, holds_others);
  if (kind == SIGNAL)
    nvmi_signals_release(&before);
  if (NVMI_UNLIKELY(thread->posts_count))
    nvmi_order_post(thread);
}

static __attribute__((noinline)) void tell_acquire(uintptr_t lock) {
  if (nvmi_tracing)
    nvmi_trace_acquire((const void *)(lock & ~(uintptr_t)1));
  nvmi_order_acquire(lock);
}

/* A lock is about to change; nobody notes that of one in a pool. */
static inline void changes(const void *lock) {
  struct nvm_pool *pool = NULL;
  if (NVMI_UNLIKELY((uintptr_t)lock >> NVM_RANGE_SHIFT == NVM_RANGE_TAG))
    pool = nvmi_pool_at(lock);
  if (NVMI_UNLIKELY(pool && !pool->stores_unnoted))
    nvmi_pool_stores_unnoted(pool);
}

/* Others may read roots behind the release, which are a part of what is open. */
static __attribute__((noinline)) void save_roots(const struct nvmi_thread *thread) {
  if (!thread->busy && !thread->ends && thread->roots->saves)
    thread->roots->before_commit();
}

static inline void releases(const void *lock, enum kind kind) {
  struct nvmi_thread *thread = nvmi_self;
  changes(lock);
  if (NVMI_UNLIKELY(nvmi_in_order))
    return;
  if (NVMI_UNLIKELY(thread && thread->roots))
    save_roots(thread);
  if (NVMI_UNLIKELY(thread && (thread->touched || thread->node) && !thread->busy))
    tell_release(thread, kind == SIGNAL ? (uintptr_t)lock : nvmi_held_as(lock), kind,
                 nvmi_holds_other_than(lock));
  if (kind != SIGNAL)
    nvmi_holds_no_more(lock);
}

static inline bool ends_behind_release(const struct nvmi_thread *thread) {
  return NVMI_UNLIKELY(thread && thread->touched && thread->node && !thread->busy) &&
         !nvmi_in_order && nvmi_tx_ends_at_release(thread);
}

static __attribute__((noinline)) void end_behind_release(struct nvmi_thread *thread,
                                                         enum kind kind) {
  sigset_t before;
  if (kind == SIGNAL)
    before = nvmi_signals_hold();
  nvmi_tx_end_at_release(thread, nvmi_holds_other_than(NULL));
  if (kind == SIGNAL)
    nvmi_signals_release(&before);
  if (NVMI_UNLIKELY(thread->posts_count)) /* by a handler that came in a look at pointers */
    nvmi_order_post(thread);
}

static inline int released(int result) {
  struct nvmi_thread *thread = nvmi_self;
  if (ends_behind_release(thread))
    end_behind_release(thread, EXCLUSIVE);
  return result;
}

/* A semaphore is: who does so in a signal handler goes on with what that has interrupted. */
static inline int posted(int result) {
  struct nvmi_thread *thread = nvmi_self;
  if (ends_behind_release(thread) && !nvmi_in_signal_handler())
    end_behind_release(thread, SIGNAL);
  return result;
}

/* The thread is about to wait for the lock, as long as that takes. */
static inline void wants(const void *lock, enum kind kind) {
  atomic_store_explicit(&nvmi_held.wants, (uintptr_t)lock | (kind == SHARED), memory_order_relaxed);
}

static inline int acquires(const void *lock, enum kind kind, int result) {
  uintptr_t as = (uintptr_t)lock | (kind == SHARED);
  atomic_store_explicit(&nvmi_held.wants, 0, memory_order_relaxed);
  if ((result != 0 && result != EOWNERDEAD) || NVMI_UNLIKELY(nvmi_in_order))
    return result;
  if (kind != SIGNAL)
    nvmi_holds(as);
  if (NVMI_UNLIKELY(atomic_load_explicit(&nvmi_order_released, memory_order_acquire)))
    tell_acquire(as);
  return result;
}

/* The mutex is locked again whatever became of the wait, also if the thread was cancelled in it. */
static void ends_wait(void *lock) { acquires(lock, EXCLUSIVE, 0); }

/* Of the lock alone; of the lock and one, or two, more arguments. A signal handler may post a
 * semaphore, and does not wait behind it. */
#define RELEASE(name, type, kind)                                                                  \
  REAL(name)                                                                                       \
  int NAME(name)(type * lock) {                                                                    \
    if (kind == SIGNAL && NVMI_UNLIKELY(nvmi_order_posts_later((void *)lock)))                     \
      return 0;                                                                                    \
    releases((const void *)lock, kind);                                                            \
    int result = real_##name()(lock);                                                              \
    return kind == SIGNAL ? posted(result) : released(result);                                     \
  }
#define ACQUIRE(name, type, kind)                                                                  \
  REAL(name)                                                                                       \
  int NAME(name)(type * lock) {                                                                    \
    changes((const void *)lock);                                                                   \
    if (kind != SIGNAL)                                                                            \
      wants((const void *)lock, kind);                                                             \
    return acquires((const void *)lock, kind, real_##name()(lock));                                \
  }
#define ACQUIRE_AT_ONCE(name, type, kind)                                                          \
  REAL(name)                                                                                       \
  int NAME(name)(type * lock) {                                                                    \
    changes((const void *)lock);                                                                   \
    return acquires((const void *)lock, kind, real_##name()(lock));                                \
  }
#define ACQUIRE_UNTIL(name, type, kind)                                                            \
  REAL(name)                                                                                       \
  int NAME(name)(type *restrict lock, const struct timespec *restrict until) {                     \
    changes((const void *)lock);                                                                   \
    return acquires((const void *)lock, kind, real_##name()(lock, until));                         \
  }
#define ACQUIRE_BY_CLOCK(name, type, kind)                                                         \
  REAL(name)                                                                                       \
  int NAME(name)(type *restrict lock, clockid_t clock, const struct timespec *restrict until) {    \
    changes((const void *)lock);                                                                   \
    return acquires((const void *)lock, kind, real_##name()(lock, clock, until));                  \
  }

ACQUIRE(pthread_mutex_lock, pthread_mutex_t, EXCLUSIVE)
ACQUIRE_AT_ONCE(pthread_mutex_trylock, pthread_mutex_t, EXCLUSIVE)
ACQUIRE_UNTIL(pthread_mutex_timedlock, pthread_mutex_t, EXCLUSIVE)
ACQUIRE_BY_CLOCK(pthread_mutex_clocklock, pthread_mutex_t, EXCLUSIVE)
RELEASE(pthread_mutex_unlock, pthread_mutex_t, EXCLUSIVE)

ACQUIRE(pthread_rwlock_rdlock, pthread_rwlock_t, SHARED)
ACQUIRE_AT_ONCE(pthread_rwlock_tryrdlock, pthread_rwlock_t, SHARED)
ACQUIRE_UNTIL(pthread_rwlock_timedrdlock, pthread_rwlock_t, SHARED)
ACQUIRE_BY_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t, SHARED)
ACQUIRE(pthread_rwlock_wrlock, pthread_rwlock_t, EXCLUSIVE)
ACQUIRE_AT_ONCE(pthread_rwlock_trywrlock, pthread_rwlock_t, EXCLUSIVE)
ACQUIRE_UNTIL(pthread_rwlock_timedwrlock, pthread_rwlock_t, EXCLUSIVE)
ACQUIRE_BY_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t, EXCLUSIVE)
RELEASE(pthread_rwlock_unlock, pthread_rwlock_t, EXCLUSIVE)

ACQUIRE(pthread_spin_lock, pthread_spinlock_t, EXCLUSIVE)
ACQUIRE_AT_ONCE(pthread_spin_trylock, pthread_spinlock_t, EXCLUSIVE)
RELEASE(pthread_spin_unlock, pthread_spinlock_t, EXCLUSIVE)

ACQUIRE(sem_wait, sem_t, SIGNAL)
ACQUIRE_AT_ONCE(sem_trywait, sem_t, SIGNAL)
ACQUIRE_UNTIL(sem_timedwait, sem_t, SIGNAL)
ACQUIRE_BY_CLOCK(sem_clockwait, sem_t, SIGNAL)
RELEASE(sem_post, sem_t, SIGNAL)

ACQUIRE(mtx_lock, mtx_t, EXCLUSIVE)
ACQUIRE_AT_ONCE(mtx_trylock, mtx_t, EXCLUSIVE)
ACQUIRE_UNTIL(mtx_timedlock, mtx_t, EXCLUSIVE)
RELEASE(mtx_unlock, mtx_t, EXCLUSIVE)

/* Waiting for a condition releases the mutex; what is stored outside transactions must end before,
 * as the thread may wait for long. If that depends on another's transaction, which may need the
 * mutex, it ends behind a release of its own, and the wait is over at once, as any wait for a
 * condition may be: true, and the mutex is locked again, with that result. */
static bool begins_wait(pthread_mutex_t *lock, int *result) {
  releases(lock, EXCLUSIVE);
  struct nvmi_thread *thread = nvmi_self;
  if (ends_behind_release(thread) && !thread->stays_open) {
    real_pthread_mutex_unlock()(lock);
    released(0);
    thread->stays_open = thread->touched; /* the next wait is one */
    wants(lock, EXCLUSIVE);
    *result = acquires(lock, EXCLUSIVE, real_pthread_mutex_lock()(lock));
    return true;
  }
  wants(lock, EXCLUSIVE); /* whatever else it waits for: it does not go on without the mutex */
  return false;
}

#define WAITING(lock, call)                                                                        \
  int result;                                                                                      \
  changes((const void *)(condition));                                                              \
  if (begins_wait((pthread_mutex_t *)(lock), &result))                                             \
    return result;                                                                                 \
  pthread_cleanup_push(ends_wait, lock);                                                           \
  result = call;                                                                                   \
  pthread_cleanup_pop(1);                                                                          \
  return result;

#define WAIT(name, condition_type, type)                                                           \
  REAL(name)                                                                                       \
  int NAME(name)(condition_type * condition, type * lock) {                                        \
    WAITING(lock, real_##name()(condition, lock))                                                  \
  }
#define WAIT_UNTIL(name, condition_type, type)                                                     \
  REAL(name)                                                                                       \
  int NAME(name)(condition_type *restrict condition, type *restrict lock,                          \
                 const struct timespec *restrict until) {                                          \
    WAITING(lock, real_##name()(condition, lock, until))                                           \
  }

WAIT(pthread_cond_wait, pthread_cond_t, pthread_mutex_t)
WAIT_UNTIL(pthread_cond_timedwait, pthread_cond_t, pthread_mutex_t)
WAIT(cnd_wait, cnd_t, mtx_t)
WAIT_UNTIL(cnd_timedwait, cnd_t, mtx_t)

REAL(pthread_cond_clockwait)
int NAME(pthread_cond_clockwait)(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock,
                                 clockid_t clock, const struct timespec *restrict until) {
  WAITING(lock, real_pthread_cond_clockwait()(condition, lock, clock, until))
}

/* Now, not where all threads stand still: one of them may be in the loader, which holds its lock. Those
 * of lock and unlock the runtime's own locks have found by then. */
static void find_all(void) {
  real_pthread_mutex_trylock();
  real_sem_post();
  real_pthread_cond_clockwait();
}

int nvmi_real_post(void *semaphore) { return real_sem_post()(semaphore); }
int nvmi_real_lock(pthread_mutex_t *mutex) { return real_pthread_mutex_lock()(mutex); }
int nvmi_real_try_lock(pthread_mutex_t *mutex) { return real_pthread_mutex_trylock()(mutex); }
int nvmi_real_unlock(pthread_mutex_t *mutex) { return real_pthread_mutex_unlock()(mutex); }
int nvmi_real_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                   const struct timespec *until) {
  return real_pthread_cond_clockwait()(condition, mutex, CLOCK_MONOTONIC, until);
}

#ifdef NVMI_WRAPPED
void nvmi_locks_check(void) { find_all(); }
#else
const char nvmi_locks_linked = 1;

void nvmi_locks_check(void) {
  static _Atomic bool told;
  find_all();
  const void *others = dlsym(RTLD_DEFAULT, "pthread_mutex_unlock");
  if (!others || others == (const void *)pthread_mutex_unlock ||
      __interceptor_pthread_mutex_unlock || atomic_exchange(&told, true))
    return;
  nvmi_tell(
      "nvmove: this program hides what libnvmove defines from its shared libraries "
      "(--exclude-libs, or a version script): locks that they take are not seen, and pool memory "
      "that they free is lost (docs/reference/nvmove-cc.md)\n");
}
#endif
