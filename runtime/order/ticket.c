/* ticket.c: tickets lie in slabs, which are never given back: so all can be looked through, and one
 * without references is used again. */
#define _GNU_SOURCE
#include "order/ticket.h"

#include <sys/mman.h>

enum { TICKETS = 64 /* made at once */ };

static struct nvmi_ticket *free_tickets;
static struct nvmi_array slabs; /* struct nvmi_ticket *: TICKETS each */

void nvmi_order_push(struct nvmi_array *array, const void *item, size_t size) {
  if (!nvmi_array_push(array, item, size))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the order of transactions");
}

struct nvmi_ticket *nvmi_ticket_new(struct nvmi_thread *thread) {
  if (!free_tickets) {
    struct nvmi_ticket *fresh = mmap(NULL, TICKETS * sizeof *fresh, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
      nvmi_die(NULL, "out of memory for the order of transactions");
    nvmi_order_push(&slabs, &fresh, sizeof fresh);
    for (unsigned i = 0; i < TICKETS; i++) {
      fresh[i].into = free_tickets;
      free_tickets = &fresh[i];
    }
  }
  struct nvmi_ticket *ticket = free_tickets;
  free_tickets = ticket->into;
  ticket->state = OPEN;
  ticket->waiting = ticket->has_joined = ticket->unsafe = false;
  ticket->judged = 0;
  ticket->thread = thread;
  ticket->into = NULL;
  ticket->references = 1;
  return ticket;
}

void nvmi_ticket_forget(struct nvmi_ticket *ticket) {
  size_t count = ticket->deps.count;
  ticket->deps.count = 0;
  for (size_t i = 0; i < count; i++)
    nvmi_ticket_drop(nvmi_ticket_deps(ticket)[i]);
}

/* One that has ended keeps no dependence that has: no chain of tickets grows behind the threads. */
void nvmi_ticket_drop(struct nvmi_ticket *ticket) {
  while (ticket && --ticket->references == 0) {
    nvmi_ticket_forget(ticket);
    struct nvmi_ticket *into = ticket->into;
    ticket->into = free_tickets;
    free_tickets = ticket;
    ticket = into;
  }
}

void nvmi_ticket_forget_ended(struct nvmi_ticket *ticket, bool aborted_too) {
  struct nvmi_ticket **deps = nvmi_ticket_deps(ticket);
  size_t kept = 0;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    enum nvmi_ticket_state state = nvmi_ticket_root(deps[i])->state;
    if (state == COMMITTED || (state == ABORTED && aborted_too))
      nvmi_ticket_drop(deps[i]);
    else
      deps[kept++] = deps[i];
  }
  ticket->deps.count = kept;
}

void nvmi_ticket_depend(struct nvmi_ticket *ticket, struct nvmi_ticket *on) {
  nvmi_ticket_forget_ended(ticket, false);
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (nvmi_ticket_deps(ticket)[i] == on)
      return;
  on->references++;
  nvmi_order_push(&ticket->deps, &on, sizeof(struct nvmi_ticket *));
}

static bool depends_on(const struct nvmi_ticket *ticket, const struct nvmi_ticket *on) {
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]) == on)
      return true;
  return false;
}

bool nvmi_ticket_find(bool (*visit)(struct nvmi_ticket *ticket, void *context), void *context) {
  for (size_t slab = 0; slab < slabs.count; slab++) {
    struct nvmi_ticket *each = ((struct nvmi_ticket **)slabs.items)[slab];
    for (unsigned i = 0; i < TICKETS; i++)
      if (each[i].references && visit(&each[i], context))
        return true;
  }
  return false;
}

static bool is_dependent(struct nvmi_ticket *ticket, void *on) {
  return ticket->state < COMMITTED && !ticket->into && depends_on(ticket, on);
}

bool nvmi_ticket_waits(const struct nvmi_ticket *ticket) {
  for (size_t i = 0; ticket && i < ticket->deps.count; i++) {
    const struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on != ticket && on->state < COMMITTED)
      return true;
  }
  return false;
}

bool nvmi_ticket_has_dependents(const struct nvmi_ticket *ticket) {
  return nvmi_ticket_find(is_dependent, (void *)ticket);
}

static bool forget(struct nvmi_ticket *ticket, void *unused) {
  (void)unused;
  ticket->deps.count = ticket->parcels.count = 0;
  ticket->references = 0;
  ticket->into = free_tickets;
  free_tickets = ticket;
  return false;
}

void nvmi_tickets_forget(void) { nvmi_ticket_find(forget, NULL); }

#ifndef NDEBUG
static struct nvmi_ticket *ticket_at(size_t i) {
  return ((struct nvmi_ticket **)slabs.items)[i / TICKETS] + i % TICKETS;
}

/* Those of its thread and of other tickets. */
static unsigned references_to(const struct nvmi_ticket *ticket) {
  unsigned count = ticket->thread && ticket->thread->ticket == ticket;
  for (size_t i = 0; i < slabs.count * TICKETS; i++) {
    const struct nvmi_ticket *other = ticket_at(i);
    count += other->references && other->into == ticket;
    for (size_t n = 0; n < other->deps.count; n++)
      count += nvmi_ticket_deps(other)[n] == ticket;
  }
  return count;
}

static const char *free_fault(const struct nvmi_ticket *ticket) {
  return ticket->deps.count || ticket->parcels.count ? "a free ticket has nothing" : NULL;
}

static const char *ticket_fault(const struct nvmi_ticket *ticket) {
  if (ticket->into && (ticket->thread || ticket->deps.count))
    return "a joined ticket depends on nothing, and has no thread";
  if ((ticket->into || ticket->state >= COMMITTED) && ticket->parcels.count)
    return "a ticket that joined another or has ended has no parcels";
  if (!ticket->into && !ticket->thread && ticket->state < COMMITTED)
    return "a ticket without a thread has ended";
  if (ticket->thread && (ticket->state >= COMMITTED || ticket->thread->ticket != ticket))
    return "a thread's ticket is the one that has the thread, and has not ended";
  if (ticket->thread && ticket->waiting && ticket->state != OPEN)
    return "a thread waits in its commit while that is open";
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (!nvmi_ticket_deps(ticket)[i]->references || nvmi_ticket_deps(ticket)[i] == ticket)
      return "a ticket depends on others that somebody refers to";
  return NULL;
}

const char *nvmi_tickets_fault(unsigned (*listed)(const struct nvmi_ticket *), unsigned ending) {
  unsigned more = 0;
  const char *fault = NULL;
  for (size_t i = 0; i < slabs.count * TICKETS && !fault; i++) {
    const struct nvmi_ticket *ticket = ticket_at(i);
    fault = ticket->references ? ticket_fault(ticket) : free_fault(ticket);
    if (!ticket->references)
      continue;
    unsigned known = references_to(ticket) + listed(ticket);
    if (ticket->references < known)
      return "a ticket counts all who refer to it";
    more += ticket->references - known;
  }
  return fault ? fault : more != ending ? "who counts as referring to a ticket does" : NULL;
}
#endif
