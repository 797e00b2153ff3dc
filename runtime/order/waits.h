/* waits.h: who waits for whom, of the threads whose transactions depend on each other (order.h).
 *
 * A thread waits for others in two ways that are seen: in its commit, for the tickets that it
 * depends on; in the acquisition of a lock, for whoever holds that. Held: a lock that the thread
 * has acquired and not released; mutexes, read-write and spin locks, no semaphores, which anybody
 * posts. All of it under order.c's mutex, but for a thread's own list.
 */
#pragma once

#include "core/internal.h"

/* `on` waits in its commit, and by such waits alone, in the end, for `ticket`. */
bool nvmi_commits_wait(struct nvmi_ticket *on, const struct nvmi_ticket *ticket);
/* `on` does not end before `ticket` has: by waits in commits and for locks. */
bool nvmi_never_ends(struct nvmi_ticket *on, const struct nvmi_ticket *ticket);
/* Whether it depends on that one, or on one that does, and so on. */
bool nvmi_ticket_follows(struct nvmi_ticket *ticket, const struct nvmi_ticket *on);
/* It is being undone, or waits in its commit and is going to be, without anything that a thread
 * that runs does: it has written, and by such waits it depends on one that is undone. */
bool nvmi_breaks_soon(struct nvmi_ticket *ticket);
/* One that runs, and for which the commit of `ticket` waits; null: none is known. */
const struct nvmi_thread *nvmi_waited_for(struct nvmi_ticket *ticket);

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
