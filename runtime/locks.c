/* locks.c: the program's locks, seen as they are released and acquired.
 *
 * The functions of the C library that release or acquire a lock are defined here again, find the
 * library's own behind them, and tell order.c where it matters: at a release when the thread has
 * something uncommitted, at an acquisition when some open transaction has released a lock. Both
 * tests are one load and a branch. Locks that a program makes of atomic instructions are not seen,
 * and none in a program that is linked statically: there the library's own come first, and this
 * file not at all.
 */
#define _GNU_SOURCE
#include "locks.h"

#include "order.h"
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

/* The sanitizers' own interceptors stand between: they define these names, too. */
static void *next(const char *name, void *sanitizer) {
  void *found = sanitizer ? sanitizer : dlsym(RTLD_NEXT, name);
  if (!found)
    nvmi_die(NULL, "the C library has no %s", name);
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

static __attribute__((noinline)) void tell_release(const void *lock) {
  if (nvmi_tracing)
    nvmi_trace_release(lock);
  nvmi_order_release(lock);
}

static __attribute__((noinline)) void tell_acquire(const void *lock) {
  if (nvmi_tracing)
    nvmi_trace_acquire(lock);
  nvmi_order_acquire(lock);
}

static inline void releases(const void *lock) {
  const struct nvmi_thread *thread = nvmi_self;
  if (NVMI_UNLIKELY(thread && (thread->touched || thread->ticket) && !thread->busy &&
                    !thread->waits_for_turn))
    tell_release(lock);
}

static inline int acquires(const void *lock, int result) {
  if (NVMI_UNLIKELY(atomic_load_explicit(&nvmi_order_released, memory_order_acquire)) &&
      (result == 0 || result == EOWNERDEAD))
    tell_acquire(lock);
  return result;
}

/* Of the lock alone; of the lock and one, or two, more arguments. */
#define RELEASE(name, type)                                                                        \
  REAL(name)                                                                                       \
  int name(type *lock) {                                                                           \
    releases((const void *)lock);                                                                  \
    return real_##name()(lock);                                                                    \
  }
#define ACQUIRE(name, type)                                                                        \
  REAL(name)                                                                                       \
  int name(type *lock) { return acquires((const void *)lock, real_##name()(lock)); }
#define ACQUIRE_UNTIL(name, type)                                                                  \
  REAL(name)                                                                                       \
  int name(type *restrict lock, const struct timespec *restrict until) {                           \
    return acquires((const void *)lock, real_##name()(lock, until));                               \
  }
#define ACQUIRE_BY_CLOCK(name, type)                                                               \
  REAL(name)                                                                                       \
  int name(type *restrict lock, clockid_t clock, const struct timespec *restrict until) {          \
    return acquires((const void *)lock, real_##name()(lock, clock, until));                        \
  }

ACQUIRE(pthread_mutex_lock, pthread_mutex_t)
ACQUIRE(pthread_mutex_trylock, pthread_mutex_t)
ACQUIRE_UNTIL(pthread_mutex_timedlock, pthread_mutex_t)
ACQUIRE_BY_CLOCK(pthread_mutex_clocklock, pthread_mutex_t)
RELEASE(pthread_mutex_unlock, pthread_mutex_t)

ACQUIRE(pthread_rwlock_rdlock, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_tryrdlock, pthread_rwlock_t)
ACQUIRE_UNTIL(pthread_rwlock_timedrdlock, pthread_rwlock_t)
ACQUIRE_BY_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_wrlock, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_trywrlock, pthread_rwlock_t)
ACQUIRE_UNTIL(pthread_rwlock_timedwrlock, pthread_rwlock_t)
ACQUIRE_BY_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t)
RELEASE(pthread_rwlock_unlock, pthread_rwlock_t)

ACQUIRE(pthread_spin_lock, pthread_spinlock_t)
ACQUIRE(pthread_spin_trylock, pthread_spinlock_t)
RELEASE(pthread_spin_unlock, pthread_spinlock_t)

ACQUIRE(sem_wait, sem_t)
ACQUIRE(sem_trywait, sem_t)
ACQUIRE_UNTIL(sem_timedwait, sem_t)
ACQUIRE_BY_CLOCK(sem_clockwait, sem_t)
RELEASE(sem_post, sem_t)

ACQUIRE(mtx_lock, mtx_t)
ACQUIRE(mtx_trylock, mtx_t)
ACQUIRE_UNTIL(mtx_timedlock, mtx_t)
RELEASE(mtx_unlock, mtx_t)

/* Waiting releases the mutex, and has it again whatever the result. */
#define WAIT(name, condition_type, type)                                                           \
  REAL(name)                                                                                       \
  int name(condition_type *condition, type *lock) {                                                \
    releases(lock);                                                                                \
    int result = real_##name()(condition, lock);                                                   \
    acquires(lock, 0);                                                                             \
    return result;                                                                                 \
  }
#define WAIT_UNTIL(name, condition_type, type)                                                     \
  REAL(name)                                                                                       \
  int name(condition_type *restrict condition, type *restrict lock,                                \
           const struct timespec *restrict until) {                                                \
    releases(lock);                                                                                \
    int result = real_##name()(condition, lock, until);                                            \
    acquires(lock, 0);                                                                             \
    return result;                                                                                 \
  }

WAIT(pthread_cond_wait, pthread_cond_t, pthread_mutex_t)
WAIT_UNTIL(pthread_cond_timedwait, pthread_cond_t, pthread_mutex_t)
WAIT(cnd_wait, cnd_t, mtx_t)
WAIT_UNTIL(cnd_timedwait, cnd_t, mtx_t)

REAL(pthread_cond_clockwait)
int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock,
                           clockid_t clock, const struct timespec *restrict until) {
  releases(lock);
  int result = real_pthread_cond_clockwait()(condition, lock, clock, until);
  acquires(lock, 0);
  return result;
}

int nvmi_real_lock(pthread_mutex_t *mutex) { return real_pthread_mutex_lock()(mutex); }
int nvmi_real_unlock(pthread_mutex_t *mutex) { return real_pthread_mutex_unlock()(mutex); }
