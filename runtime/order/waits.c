/* waits.c: see waits.h.
 *
 * A commit waits for all that it depends on, and an acquisition for all that hold the lock; so any
 * path of waits that leads back to where it began is a circle that nobody in it can leave. In such
 * a circle all that is read stands still: one that waits in its commit changes no list; one that
 * wants a lock wants it until a holder, which is in the circle, releases it. A path that was read
 * while one on it still ran may be none: a circle over locks is looked at twice.
 */
#include "order/waits.h"

static unsigned search;          /* the number of the last one, from 1 on */
static struct nvmi_ticket *todo; /* found by it, and not yet looked at */

static void find(struct nvmi_ticket *ticket) {
  if (ticket->seen == search)
    return;
  ticket->seen = search;
  ticket->todo = todo;
  todo = ticket;
}

static struct nvmi_ticket *next(void) {
  struct nvmi_ticket *ticket = todo;
  if (ticket)
    todo = ticket->todo;
  return ticket;
}

static void begin(void) {
  search++;
  todo = NULL;
}

static bool holds(const struct nvmi_held *held, uintptr_t wanted) {
  unsigned count = nvmi_held_count(held);
  for (unsigned i = 0; i < count && i < NVMI_HELD_MAX; i++) {
    uintptr_t lock = nvmi_held_lock(held, i);
    if ((lock & ~(uintptr_t)1) == (wanted & ~(uintptr_t)1))
      return !(lock & wanted & 1); /* both shared: not in its way */
  }
  return false;
}

static bool find_if_in_the_way(struct nvmi_ticket *ticket, void *wanted) {
  if (ticket->thread && holds(ticket->thread->held, *(uintptr_t *)wanted))
    find(ticket);
  return false;
}

/* Whether waits lead from a ticket to the other: in commits, and with `locks` for locks, too. */
static bool leads(struct nvmi_ticket *from, const struct nvmi_ticket *to, bool locks) {
  begin();
  find(from);
  for (struct nvmi_ticket *ticket; (ticket = next());) {
    if (ticket == to)
      return true;
    for (size_t i = 0; ticket->waiting && i < ticket->deps.count; i++) {
      struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
      if (on->state < COMMITTED)
        find(on);
    }
    if (ticket->waiting || !locks || !ticket->thread)
      continue;
    uintptr_t wanted = atomic_load_explicit(&ticket->thread->held->wants, memory_order_relaxed);
    if (wanted)
      nvmi_ticket_find(find_if_in_the_way, &wanted);
  }
  return false;
}

bool nvmi_commits_wait(struct nvmi_ticket *on, const struct nvmi_ticket *ticket) {
  return leads(on, ticket, false);
}

bool nvmi_never_ends(struct nvmi_ticket *on, const struct nvmi_ticket *ticket) {
  return leads(on, ticket, true) && leads(on, ticket, true);
}

bool nvmi_ticket_follows(struct nvmi_ticket *ticket, const struct nvmi_ticket *on) {
  begin();
  for (find(ticket); (ticket = next());)
    for (size_t i = 0; i < ticket->deps.count; i++) {
      struct nvmi_ticket *before = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
      if (before == on)
        return true;
      find(before);
    }
  return false;
}

bool nvmi_breaks_soon(struct nvmi_ticket *ticket) {
  if (ticket->state >= ABORTING)
    return ticket->state == ABORTING;
  begin();
  for (find(ticket); (ticket = next());) {
    if (ticket->state >= ABORTING) /* behind one that waits: committed ones are not */
      return true;
    for (size_t i = 0; ticket->waiting && nvmi_ticket_writes(ticket) && i < ticket->deps.count;
         i++) {
      struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
      if (on->state != COMMITTED)
        find(on);
    }
  }
  return false;
}

/* A longer path than this is not told of. */
enum { DEPTH_MAX = 64 };

const struct nvmi_thread *nvmi_waited_for(struct nvmi_ticket *ticket) {
  for (unsigned depth = DEPTH_MAX; depth && ticket && ticket->waiting; depth--) {
    struct nvmi_ticket *next = NULL;
    for (size_t i = 0; i < ticket->deps.count && !next; i++) {
      struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
      next = on != ticket && on->state < COMMITTED ? on : NULL;
    }
    ticket = next;
  }
  return ticket ? ticket->thread : NULL;
}
