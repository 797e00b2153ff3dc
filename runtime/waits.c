/* waits.c: see waits.h.
 *
 * A commit waits for all that it depends on, and an acquisition for all that hold the lock; so any
 * path of waits that leads back to where it began is a circle that nobody in it can leave. What is
 * read of another thread stands still as long as it matters: one that waits in its commit changes
 * no list; one that wants a lock wants it until a holder, which waits in its commit, releases it.
 */
#include "waits.h"

#include "ticket.h"

enum { DEPTH_MAX = 64 /* of a path; a longer circle is found by another of its threads, or not */ };

static unsigned search; /* the number of the last one, from 1 on */

struct goal {
  const struct nvmi_ticket *ticket;
  uintptr_t wanted; /* a lock, | 1: shared */
  unsigned depth;
  bool locks; /* paths may lead over them */
};

static bool leads(struct nvmi_ticket *from, const struct goal *goal);

static bool commit_leads(const struct nvmi_ticket *from, const struct goal *goal) {
  for (size_t i = 0; i < from->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(from)[i]);
    if (on->state < COMMITTED && leads(on, goal))
      return true;
  }
  return false;
}

static bool holds(const struct nvmi_thread *thread, uintptr_t wanted) {
  for (unsigned i = 0; i < thread->held_count; i++)
    if ((thread->held[i] & ~(uintptr_t)1) == (wanted & ~(uintptr_t)1))
      return !(thread->held[i] & wanted & 1); /* both shared: not in its way */
  return false;
}

static bool is_in_the_way(struct nvmi_ticket *ticket, void *context) {
  const struct goal *goal = context;
  return ticket->waiting && ticket->thread && holds(ticket->thread, goal->wanted) &&
         leads(ticket, goal);
}

static bool leads(struct nvmi_ticket *from, const struct goal *goal) {
  if (from == goal->ticket)
    return true;
  if (from->seen == search || !goal->depth)
    return false;
  from->seen = search;
  struct goal next = *goal;
  next.depth--;
  if (from->waiting)
    return commit_leads(from, &next);
  if (!goal->locks || !from->thread)
    return false;
  next.wanted = atomic_load_explicit(&from->thread->wants, memory_order_relaxed);
  return next.wanted && nvmi_ticket_find(is_in_the_way, &next);
}

bool nvmi_commits_wait(struct nvmi_ticket *on, const struct nvmi_ticket *ticket) {
  search++;
  return leads(on, &(struct goal){.ticket = ticket, .depth = DEPTH_MAX});
}

bool nvmi_never_ends(struct nvmi_ticket *on, const struct nvmi_ticket *ticket) {
  search++;
  return leads(on, &(struct goal){.ticket = ticket, .depth = DEPTH_MAX, .locks = true});
}

static bool follows(struct nvmi_ticket *ticket, const struct nvmi_ticket *on) {
  if (ticket->seen == search)
    return false;
  ticket->seen = search;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *next = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (next == on || follows(next, on))
      return true;
  }
  return false;
}

bool nvmi_ticket_follows(struct nvmi_ticket *ticket, const struct nvmi_ticket *on) {
  search++;
  return follows(ticket, on);
}

const struct nvmi_thread *nvmi_waited_for(struct nvmi_ticket *ticket) {
  for (unsigned depth = DEPTH_MAX; depth && ticket->waiting; depth--) {
    struct nvmi_ticket *next = NULL;
    for (size_t i = 0; i < ticket->deps.count && !next; i++) {
      struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
      next = on->state < COMMITTED ? on : NULL;
    }
    if (!next)
      return NULL;
    ticket = next;
  }
  return ticket->thread;
}
