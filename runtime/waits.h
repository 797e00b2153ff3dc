/* waits.h: who waits for whom, of the threads whose transactions depend on each other (order.h).
 *
 * A thread waits for others in two ways that are seen: in its commit, for the tickets that it
 * depends on; in the acquisition of a lock, for whoever holds that. Held: a lock that the thread
 * has acquired and not released; mutexes, read-write and spin locks, no semaphores, which anybody
 * posts. All of it under order.c's mutex, but for a thread's own list.
 */
#pragma once

#include "internal.h"

/* `on` waits in its commit, and by such waits alone, in the end, for `ticket`. */
bool nvmi_commits_wait(struct nvmi_ticket *on, const struct nvmi_ticket *ticket);
/* `on` does not end before `ticket` has: by waits in commits and for locks. */
bool nvmi_never_ends(struct nvmi_ticket *on, const struct nvmi_ticket *ticket);
/* Whether it depends on that one, or on one that does, and so on. */
bool nvmi_ticket_follows(struct nvmi_ticket *ticket, const struct nvmi_ticket *on);
/* One that runs, and for which the commit of `ticket` waits; null: none is known. */
const struct nvmi_thread *nvmi_waited_for(struct nvmi_ticket *ticket);

/* The thread acquired the lock; released it. */
static inline void nvmi_holds(struct nvmi_thread *thread, const void *lock, bool shared) {
  unsigned count = thread->held_count;
  if (NVMI_LIKELY(count < NVMI_HELD_MAX)) {
    thread->held[count] = (uintptr_t)lock | shared;
    thread->held_count = count + 1;
  }
}
static inline void nvmi_holds_no_more(struct nvmi_thread *thread, const void *lock) {
  for (unsigned i = thread->held_count; i-- > 0;)
    if ((thread->held[i] & ~(uintptr_t)1) == (uintptr_t)lock) {
      thread->held[i] = thread->held[--thread->held_count];
      return;
    }
}
