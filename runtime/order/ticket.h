/* ticket.h: tickets (order.h) and what they depend on. All of it under order.c's mutex. */
#pragma once

#include "core/thread.h"

/* Closed: nobody may join any more. Aborting: those that depend on it are to be undone first. */
enum nvmi_ticket_state { OPEN, CLOSED, ABORTING, COMMITTED, ABORTED };

struct nvmi_ticket {
  enum nvmi_ticket_state state;
  bool waiting;               /* its thread is in nvmi_order_turn, and does nothing else */
  bool has_joined;            /* it waits for the one that it joined: nobody joins it */
  bool unsafe;                /* an unsafe pointer was there, or may have been, at a release */
  size_t judged;              /* lines of its thread that were looked at for that (order_join.c) */
  unsigned seen;              /* by the search of this number (waits.c) */
  struct nvmi_ticket *todo;   /* the next that it has found */
  unsigned references;        /* of threads, the list of locks, other tickets */
  struct nvmi_ticket *into;   /* joined that one; next free ticket */
  struct nvmi_thread *thread; /* whose open transaction it is; null: ended, or joined another */
  struct nvmi_array deps;     /* struct nvmi_ticket * */
  struct nvmi_array parcels;
};

static inline struct nvmi_ticket **nvmi_ticket_deps(const struct nvmi_ticket *ticket) {
  return ticket->deps.items;
}

/* The ticket that decides about this one. */
static inline struct nvmi_ticket *nvmi_ticket_root(struct nvmi_ticket *ticket) {
  while (ticket->into)
    ticket = ticket->into;
  return ticket;
}

static inline bool nvmi_ticket_ended(struct nvmi_ticket *ticket) {
  return nvmi_ticket_root(ticket)->state >= COMMITTED;
}

/* Whether its transaction has written, or has what joined it: a reader loses nothing by an abort.
 */
static inline bool nvmi_ticket_writes(const struct nvmi_ticket *ticket) {
  return ticket->thread && (ticket->thread->touched || ticket->parcels.count);
}

/* Open, with one reference, the thread's. Ends the process without memory. */
struct nvmi_ticket *nvmi_ticket_new(struct nvmi_thread *thread);
/* Gives a reference back. */
void nvmi_ticket_drop(struct nvmi_ticket *ticket);
/* Depends on nothing any more. */
void nvmi_ticket_forget(struct nvmi_ticket *ticket);
/* Once, however often it is said. */
void nvmi_ticket_depend(struct nvmi_ticket *ticket, struct nvmi_ticket *on);
/* A thread that only reads never ends its transaction: what it depended on must not pile up. */
void nvmi_ticket_forget_ended(struct nvmi_ticket *ticket, bool aborted_too);
/* Whether its commit would wait at this moment; null: no. */
bool nvmi_ticket_waits(const struct nvmi_ticket *ticket);
/* Whether one that has not ended depends on it. */
bool nvmi_ticket_has_dependents(const struct nvmi_ticket *ticket);
/* Calls `visit` for each ticket that somebody refers to, until one says true. */
bool nvmi_ticket_find(bool (*visit)(struct nvmi_ticket *ticket, void *context), void *context);
/* A child of fork: nobody refers to any. */
void nvmi_tickets_forget(void);
#ifndef NDEBUG
/* What does not hold of all tickets; null: all does (base/invariant.h). `listed`: references to one
 * from elsewhere than threads and tickets; `ending`: threads that hold one which they have ended. */
const char *nvmi_tickets_fault(unsigned (*listed)(const struct nvmi_ticket *), unsigned ending);
#endif
/* As nvmi_array_push, and ends the process without memory. */
void nvmi_order_push(struct nvmi_array *array, const void *item, size_t size);
