/* order.c: commits follow the order in which locks were handed on inside open transactions.
 *
 * A thread that releases a lock inside a transaction with notes enters (lock, ticket) into a list;
 * one that acquires the lock depends on that ticket from then on, and so, by the locks that it
 * releases in turn, does whoever comes after. Its commit waits until those tickets have ended, as
 * long as that takes: no transaction commits before one whose uncommitted bytes it may have read,
 * and no commit returns success before both are durable.
 *
 * Two kinds of circle end a wait. Commits that wait for each other become one: each but one joins
 * another, whose record has the bytes of all, and returns when that is durable. A commit that waits
 * for a transaction that runs, and wants a lock which a thread of this circle holds until its own
 * commit has returned, would wait for ever: it is undone (NVM_EDEADLOCK), its thread can release
 * the lock. waits.c finds both.
 */
#define _GNU_SOURCE
#include "order.h"

#include "clock.h"
#include "lines.h"
#include "locks.h"
#include "map.h"
#include "ticket.h"
#include "waits.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  WAIT_NS = 20000000,   /* of an abort for dependents, of what nobody asked to be durable */
  TELL_NS = 1000000000, /* after that a wait is told of */
  YIELDS = 64,          /* before sleeping */
  NAP_NS = 50000,
};
#define NEVER UINT64_MAX

struct release {
  const void *lock;
  struct nvmi_ticket *ticket;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct nvmi_array releases; /* struct release, of tickets that have not ended */
_Atomic unsigned nvmi_order_released;

void nvmi_order_lock(void) { nvmi_lock(&mutex); }
void nvmi_order_unlock(void) { nvmi_unlock(&mutex); }

void nvmi_order_forget(void) {
  if (nvmi_self)
    nvmi_self->ticket = NULL;
  releases.count = 0;
  nvmi_order_released = 0;
}

static void purge_releases(void) {
  struct release *all = releases.items;
  size_t kept = 0;
  for (size_t i = 0; i < releases.count; i++) {
    if (nvmi_ticket_ended(all[i].ticket))
      nvmi_ticket_drop(all[i].ticket);
    else
      all[kept++] = all[i];
  }
  releases.count = kept;
  nvmi_order_released = (unsigned)kept;
}

static void enter_release(const void *lock, struct nvmi_ticket *ticket) {
  const struct release *all = releases.items;
  for (size_t i = 0; i < releases.count; i++)
    if (all[i].lock == lock && all[i].ticket == ticket)
      return;
  struct release fresh = {lock, ticket};
  ticket->references++;
  nvmi_order_push(&releases, &fresh, sizeof fresh);
  nvmi_order_released = (unsigned)releases.count;
}

/* A thread that has written nothing hands on what it depends on, never itself: it may be a reader
 * outside transactions, whose own never ends. False: there is nothing. */
static bool hand_on(const void *lock, struct nvmi_ticket *ticket) {
  nvmi_ticket_forget_ended(ticket, false);
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (!nvmi_ticket_ended(nvmi_ticket_deps(ticket)[i]))
      enter_release(lock, nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]));
  return ticket->deps.count;
}

void nvmi_order_release(const void *lock, bool seals) {
  struct nvmi_thread *thread = nvmi_self;
  nvmi_lock(&mutex);
  if (seals)
    nvmi_join_seal(thread);
  if (!thread->ticket)
    thread->ticket = nvmi_ticket_new(thread);
  if (thread->touched || thread->ticket->parcels.count) {
    enter_release(lock, thread->ticket);
  } else if (!hand_on(lock, thread->ticket)) {
    thread->ticket->state = COMMITTED;
    nvmi_ticket_drop(thread->ticket);
    thread->ticket = NULL;
  }
  nvmi_unlock(&mutex);
  if (seals)
    nvmi_note_called(thread);
}

/* Nobody can read any more what an aborted transaction wrote. */
void nvmi_order_begin(struct nvmi_thread *thread) {
  struct nvmi_ticket *ticket = thread->ticket;
  nvmi_lock(&mutex);
  nvmi_ticket_forget_ended(ticket, true);
  if (!ticket->deps.count && ticket->references == 1) {
    nvmi_ticket_drop(ticket);
    thread->ticket = NULL;
  }
  nvmi_unlock(&mutex);
}

void nvmi_order_acquire(const void *lock) {
  nvmi_lock(&mutex);
  for (size_t i = 0; i < releases.count; i++) {
    const struct release *one = (const struct release *)releases.items + i;
    struct nvmi_ticket *on = nvmi_ticket_root(one->ticket);
    if (one->lock != lock || on->state >= COMMITTED)
      continue;
    struct nvmi_thread *thread = nvmi_thread_self();
    if (!thread->ticket)
      thread->ticket = nvmi_ticket_new(thread);
    if (on != thread->ticket)
      nvmi_ticket_depend(thread->ticket, on);
  }
  nvmi_unlock(&mutex);
}

/* The thread goes on waiting, now for the one that it joined; what it depends on besides its next
 * transaction does, too. */
static void join(struct nvmi_thread *thread, struct nvmi_ticket *into) {
  struct nvmi_ticket *ticket = thread->ticket, *next = nvmi_ticket_new(thread);
  nvmi_join_pack(thread, &ticket->parcels);
  for (size_t i = 0; i < ticket->parcels.count; i++)
    nvmi_order_push(&into->parcels, (struct nvmi_parcel *)ticket->parcels.items + i,
                    sizeof(struct nvmi_parcel));
  ticket->parcels.count = 0;
  nvmi_ticket_depend(next, into);
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == into || on == ticket)
      continue;
    nvmi_ticket_depend(into, on);
    nvmi_ticket_depend(next, on);
  }
  ticket->into = into;
  ticket->thread = NULL;
  into->references++;
  thread->ticket = next;
  next->waiting = true;
  nvmi_ticket_drop(ticket);
}

/* A reader loses nothing by an abort. */
static bool is_reader(const struct nvmi_thread *thread) {
  return !thread->touched && !thread->ticket->parcels.count;
}

/* What a look found, and what the thread does then. */
enum step { WAIT, GO, BROKEN, JOIN, STUCK };

/* What the commit depends on: has all of it ended? One that waits for this commit (`into`) may be
 * joined: first all who wait are looked at. */
static enum step look(struct nvmi_thread *thread, struct nvmi_ticket **into) {
  struct nvmi_ticket *ticket = thread->ticket;
  bool reads = is_reader(thread), waits = false, stuck = false;
  *into = NULL;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == ticket || on->state == COMMITTED || (reads && on->state == ABORTED))
      continue;
    if (on->state >= ABORTING && !reads)
      return BROKEN;
    waits = true;
    if (on->state == OPEN && nvmi_commits_wait(on, ticket))
      *into = on;
    else if (on->state == OPEN)
      stuck = stuck || nvmi_never_ends(on, ticket);
  }
  if (!waits)
    return GO;
  return stuck ? STUCK : *into ? JOIN : WAIT;
}

static void pause_a_little(unsigned tries) {
  if (tries < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Once a wait: a program that stands still says why. */
static void tell_of_wait(struct nvmi_thread *thread) {
  nvmi_lock(&mutex);
  const struct nvmi_thread *other = nvmi_waited_for(thread->ticket);
  long id = other ? other->id : 0;
  nvmi_unlock(&mutex);
  fprintf(stderr,
          "nvmove: a commit of thread %d waits for thread %ld: that one released a lock inside a "
          "transaction which it has not ended (docs/semantics.md, \"Locks released inside a "
          "transaction\")\n",
          thread->id, id);
}

/* Until what was joined has ended. */
static enum nvmi_turn await_joined(struct nvmi_thread *thread) {
  struct nvmi_ticket *ticket = thread->ticket;
  for (unsigned tries = 0;; tries++) {
    nvmi_lock(&mutex);
    enum nvmi_ticket_state state = nvmi_ticket_root(nvmi_ticket_deps(ticket)[0])->state;
    bool ended = state >= COMMITTED;
    if (ended)
      ticket->waiting = false;
    nvmi_unlock(&mutex);
    if (ended)
      return state == COMMITTED ? NVMI_TURN_COMMIT : NVMI_TURN_BROKEN;
    pause_a_little(tries);
  }
}

/* The order's mutex keeps the ticket that is joined where it is, in its wait. */
static enum step look_and_join(struct nvmi_thread *thread, bool may_join, bool *joined) {
  struct nvmi_ticket *into, *ticket = thread->ticket;
  nvmi_lock(&mutex);
  enum step step = look(thread, &into);
  *joined = step == JOIN && may_join;
  if (*joined)
    join(thread, into);
  else
    ticket->waiting = step == WAIT || step == JOIN;
  if (step == GO)
    ticket->state = CLOSED;
  nvmi_unlock(&mutex);
  return step;
}

static void stop_waiting(struct nvmi_thread *thread) {
  nvmi_lock(&mutex);
  thread->ticket->waiting = false;
  nvmi_unlock(&mutex);
}

static enum nvmi_turn wait_for_turn(struct nvmi_thread *thread, uint64_t patience) {
  uint64_t start = nvmi_now_ns();
  bool may_join = false, joined, told = false;
  for (unsigned tries = 0;; tries++) {
    switch (look_and_join(thread, may_join, &joined)) {
    case GO:
      return NVMI_TURN_COMMIT;
    case BROKEN:
      return NVMI_TURN_BROKEN;
    case STUCK:
      return NVMI_TURN_STUCK;
    case JOIN:
      if (joined)
        return await_joined(thread);
      if (!nvmi_join_is_safe(thread)) {
        stop_waiting(thread);
        return NVMI_TURN_COMMIT; /* which finds the same, and undoes it */
      }
      may_join = true;
      continue;
    case WAIT:
      break;
    }
    uint64_t waited = nvmi_now_ns() - start;
    if (waited >= patience) {
      stop_waiting(thread);
      return NVMI_TURN_LATER;
    }
    if (waited >= TELL_NS && !told) {
      tell_of_wait(thread);
      told = true;
    }
    pause_a_little(tries);
  }
}

static enum nvmi_turn turn(struct nvmi_thread *thread, uint64_t patience) {
  thread->waits_for_turn = true;
  nvmi_compiler_barrier();
  enum nvmi_turn turn = wait_for_turn(thread, patience);
  nvmi_compiler_barrier();
  thread->waits_for_turn = false;
  return turn;
}

enum nvmi_turn nvmi_order_turn(struct nvmi_thread *thread) { return turn(thread, NEVER); }
enum nvmi_turn nvmi_order_turn_soon(struct nvmi_thread *thread) { return turn(thread, WAIT_NS); }

bool nvmi_order_waits(const struct nvmi_thread *thread) {
  bool waits = false;
  nvmi_lock(&mutex);
  for (size_t i = 0; thread->ticket && i < thread->ticket->deps.count; i++) {
    const struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(thread->ticket)[i]);
    waits = waits || (on != thread->ticket && on->state < COMMITTED);
  }
  nvmi_unlock(&mutex);
  return waits;
}

/* Who is told in time undoes first, and sees nothing change under its hands. */
static void await_dependents(const struct nvmi_ticket *ticket) {
  uint64_t deadline = nvmi_now_ns() + WAIT_NS;
  bool some = true;
  for (unsigned tries = 0; some && nvmi_now_ns() < deadline; tries++) {
    nvmi_lock(&mutex);
    some = nvmi_ticket_has_dependents(ticket);
    nvmi_unlock(&mutex);
    if (some)
      pause_a_little(tries);
  }
}

uint64_t nvmi_order_close(struct nvmi_thread *thread, bool commit) {
  struct nvmi_ticket *ticket = thread->ticket;
  uint64_t pools = thread->touched;
  nvmi_lock(&mutex);
  const struct nvmi_parcel *parcels = ticket->parcels.items;
  ticket->state = commit ? CLOSED : ABORTING;
  for (size_t i = 0; i < ticket->parcels.count; i++)
    pools |= UINT64_C(1) << parcels[i].pool->index;
  nvmi_unlock(&mutex);
  if (!commit)
    await_dependents(ticket);
  return pools;
}

/* What an aborted one still depends on its thread's next transaction does, too. */
void nvmi_order_ended(struct nvmi_thread *thread, bool committed) {
  struct nvmi_ticket *ticket = thread->ticket, *next = NULL;
  nvmi_lock(&mutex);
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == ticket || on->state == COMMITTED || on->state >= ABORTING)
      continue;
    if (!next)
      next = nvmi_ticket_new(thread);
    nvmi_ticket_depend(next, on);
  }
  ticket->state = committed ? COMMITTED : ABORTED;
  ticket->thread = NULL;
  purge_releases();
  nvmi_ticket_drop(ticket);
  thread->ticket = next;
  nvmi_unlock(&mutex);
}

/* A transaction that has ended handed what it depends on to this ticket, which nobody knows. */
void nvmi_order_leave(struct nvmi_thread *thread) {
  nvmi_lock(&mutex);
  thread->ticket->thread = NULL;
  nvmi_ticket_drop(thread->ticket);
  thread->ticket = NULL;
  nvmi_unlock(&mutex);
}
