/* held.h: the locks that a thread holds, of those that are seen (interpose/locks.c).
 *
 * Held: a lock that the thread has acquired and not released; mutexes, read-write and spin locks, no
 * semaphores, which anybody posts.
 */
#pragma once

#include "base/basics.h"

#include <stdatomic.h>

enum {
  NVMI_HELD_MAX = 32 /* locks at once; a thread that holds more is not seen to hold the rest */
};

/* Of every thread that locks, from its start on: what it holds when it first writes to a pool
 * counts. A lock is its address, | 1: held for reading. */
struct nvmi_held {
  _Atomic uintptr_t wants; /* what the thread waits for; 0: nothing */
  _Atomic unsigned count;  /* others read it, and the locks, while the thread runs */
  _Atomic uintptr_t lock[NVMI_HELD_MAX];
};
extern _Thread_local struct nvmi_held nvmi_held __attribute__((tls_model("initial-exec")));

static inline unsigned nvmi_held_count(const struct nvmi_held *held) {
  return atomic_load_explicit(&held->count, memory_order_relaxed);
}
static inline uintptr_t nvmi_held_lock(const struct nvmi_held *held, unsigned i) {
  return atomic_load_explicit(&held->lock[i], memory_order_relaxed);
}

/* The calling thread acquired the lock; released it. */
static inline void nvmi_holds(uintptr_t lock) {
  unsigned count = nvmi_held_count(&nvmi_held);
  if (NVMI_LIKELY(count < NVMI_HELD_MAX)) {
    atomic_store_explicit(&nvmi_held.lock[count], lock, memory_order_relaxed);
    atomic_store_explicit(&nvmi_held.count, count + 1, memory_order_relaxed);
  }
}
static inline void nvmi_holds_no_more(const void *lock) {
  unsigned last = nvmi_held_count(&nvmi_held) - 1;
  for (unsigned i = last + 1; i-- > 0;)
    if ((nvmi_held_lock(&nvmi_held, i) & ~(uintptr_t)1) == (uintptr_t)lock) {
      atomic_store_explicit(&nvmi_held.lock[i], nvmi_held_lock(&nvmi_held, last),
                            memory_order_relaxed);
      atomic_store_explicit(&nvmi_held.count, last, memory_order_relaxed);
      return;
    }
}
/* The lock as it is held: with | 1 for reading. */
static inline uintptr_t nvmi_held_as(const void *lock) {
  for (unsigned i = nvmi_held_count(&nvmi_held); i-- > 0;)
    if ((nvmi_held_lock(&nvmi_held, i) & ~(uintptr_t)1) == (uintptr_t)lock)
      return nvmi_held_lock(&nvmi_held, i);
  return (uintptr_t)lock;
}
/* The calling thread holds another lock, or the same once more. */
static inline bool nvmi_holds_other_than(const void *lock) {
  unsigned count = nvmi_held_count(&nvmi_held);
  return count > 1 || (count && (nvmi_held_lock(&nvmi_held, 0) & ~(uintptr_t)1) != (uintptr_t)lock);
}
