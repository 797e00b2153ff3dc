/* order.c: commits follow the order in which locks were handed on inside open transactions.
 *
 * A thread that releases a lock inside a transaction with notes enters (lock, ticket) into a list;
 * one that acquires the lock depends on that ticket from then on, and so, by the locks that it
 * releases in turn, does whoever comes after. Its commit waits until those tickets have ended. So
 * no transaction commits before one whose uncommitted bytes it may have read.
 *
 * The other may be unable to go on: it may want a lock that this thread holds until its commit has
 * returned, or wait for it in a way that nobody sees. So the wait is bounded, and where two commits
 * wait for each other there is none: then the transaction joins the other's. Its bytes commit with
 * the other's, by one record, or not at all. Its thread goes on once that has ended, or, where
 * the other still runs, after the bounded wait, and may release its locks. Nothing waits for a
 * joined transaction but what waits for the other's; so every thread that could go on without these
 * rules can go on with them.
 */
#define _GNU_SOURCE
#include "order.h"

#include "clock.h"
#include "locks.h"
#include "map.h"
#include "ticket.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum {
  WAIT_NS = 20000000, /* for a preempted thread to come back and end its transaction */
  YIELDS = 64,        /* before sleeping */
  NAP_NS = 50000,
  DEPTH_MAX = 64, /* of a chain of waiting commits that is looked through for a circle */
};

struct release {
  const void *lock;
  struct nvmi_ticket *ticket;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct nvmi_array releases; /* struct release, of tickets that have not ended */
static unsigned search;            /* the number of the last one, from 1 on */
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

void nvmi_order_release(const void *lock) {
  struct nvmi_thread *thread = nvmi_self;
  nvmi_join_seal(thread);
  nvmi_lock(&mutex);
  if (!thread->ticket)
    thread->ticket = nvmi_ticket_new();
  if (thread->touched || thread->ticket->parcels.count) {
    enter_release(lock, thread->ticket);
  } else if (!hand_on(lock, thread->ticket)) {
    thread->ticket->state = COMMITTED;
    nvmi_ticket_drop(thread->ticket);
    thread->ticket = NULL;
  }
  nvmi_unlock(&mutex);
}

/* Nobody can read any more what an aborted transaction wrote. Only a thread whose last one joined
 * it has lost something, and must learn of it from the commit that follows. */
void nvmi_order_begin(struct nvmi_thread *thread) {
  struct nvmi_ticket *ticket = thread->ticket;
  nvmi_lock(&mutex);
  nvmi_ticket_forget_ended(ticket, !ticket->follows_joined);
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
      thread->ticket = nvmi_ticket_new();
    if (on != thread->ticket)
      nvmi_ticket_depend(thread->ticket, on);
  }
  nvmi_unlock(&mutex);
}

/* Whether a commit that waits, waits for `ticket` in the end. Each is looked at once: others may
 * wait in circles of their own. */
static bool waits_for(struct nvmi_ticket *waiting, const struct nvmi_ticket *ticket,
                      unsigned depth) {
  if (!waiting->waiting || waiting->seen == search || !depth)
    return false;
  waiting->seen = search;
  for (size_t i = 0; i < waiting->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(waiting)[i]);
    if (on == ticket || waits_for(on, ticket, depth - 1))
      return true;
  }
  return false;
}

/* The thread's next transaction still depends on the one that this one joined. */
static void join(struct nvmi_thread *thread, struct nvmi_ticket *into) {
  struct nvmi_ticket *ticket = thread->ticket;
  nvmi_join_pack(thread, &ticket->parcels);
  for (size_t i = 0; i < ticket->parcels.count; i++)
    nvmi_order_push(&into->parcels, (struct nvmi_parcel *)ticket->parcels.items + i,
                    sizeof(struct nvmi_parcel));
  ticket->parcels.count = 0;
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]) != into)
      nvmi_ticket_depend(into, nvmi_ticket_deps(ticket)[i]);
  ticket->into = into;
  into->references++;
  thread->ticket = nvmi_ticket_new();
  thread->ticket->follows_joined = true;
  nvmi_ticket_depend(thread->ticket, into);
  nvmi_ticket_drop(ticket);
}

/* What a commit depends on and has not ended: one that may be joined if there is any; one that
 * waits for this commit, and may be joined. Broken: one is being undone, or was. */
struct open {
  struct nvmi_ticket *any, *circular;
  bool broken;
};

/* A reader loses nothing by an abort, and waits once for those that go on without a commit. */
static bool is_reader(const struct nvmi_thread *thread) {
  const struct nvmi_ticket *ticket = thread->ticket;
  return !thread->touched && !ticket->parcels.count && !ticket->follows_joined;
}

static bool runs_on(const struct nvmi_ticket *ticket) {
  return ticket->state == OPEN && !ticket->waiting;
}

static struct open open_of(struct nvmi_ticket *ticket, bool reads) {
  struct open open = {0};
  search++;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == ticket || on->state == COMMITTED || (reads && on->state == ABORTED) ||
        (reads && on->slow && runs_on(on)))
      continue;
    if (on->state >= ABORTING && !reads)
      open.broken = true;
    else if (!open.any || on->state == OPEN)
      open.any = on;
    if (on->state == OPEN && waits_for(on, ticket, DEPTH_MAX))
      open.circular = on;
  }
  return open;
}

/* One look: what the commit may do, or (`*waits`) nothing yet. It is told to join, and does so if
 * it may. */
static enum nvmi_turn look(struct nvmi_thread *thread, bool is_late, bool may_join, bool *waits) {
  struct nvmi_ticket *ticket = thread->ticket;
  bool reads = is_reader(thread);
  struct open open = open_of(ticket, reads);
  *waits = ticket->waiting = open.any && !open.broken;
  if (!*waits) {
    ticket->state = CLOSED;
    return open.broken ? NVMI_TURN_BROKEN : NVMI_TURN_COMMIT;
  }
  if (!open.circular && (open.any->state != OPEN || !is_late))
    return NVMI_TURN_COMMIT;
  if (reads) {
    open.any->slow = true;
    return NVMI_TURN_COMMIT;
  }
  if (may_join) {
    *waits = ticket->waiting = false;
    join(thread, open.circular ? open.circular : open.any);
  }
  return NVMI_TURN_JOINED;
}

static void pause_a_little(unsigned tries) {
  if (tries < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Whoever looks at the statistics learns how many replies may have left too early. What joined
 * keeps the pools open. */
static void count_early(uint64_t touched) {
  for (uint64_t left = touched; left; left &= left - 1)
    atomic_fetch_add(&nvmi_pool_number((unsigned)__builtin_ctzll(left))->early_commits, 1);
}

/* After `join`: as long as what it joined is in its commit, which ends without this thread, that is
 * waited for; and what still runs, until the deadline. So whoever waits in a circle returns with
 * its bytes durable, and whoever gave up waiting does not. */
static enum nvmi_turn await_joined(const struct nvmi_thread *thread, uint64_t touched,
                                   uint64_t deadline) {
  for (unsigned tries = 0;; tries++) {
    bool is_late = nvmi_now_ns() >= deadline;
    nvmi_lock(&mutex);
    const struct nvmi_ticket *into = nvmi_ticket_root(nvmi_ticket_deps(thread->ticket)[0]);
    enum nvmi_ticket_state state = into->state;
    bool gives_up = is_late && state == OPEN && !into->waiting;
    if (gives_up)
      count_early(touched);
    nvmi_unlock(&mutex);
    if (state >= COMMITTED)
      return state == COMMITTED ? NVMI_TURN_COMMIT : NVMI_TURN_BROKEN;
    if (gives_up)
      return NVMI_TURN_JOINED;
    pause_a_little(tries);
  }
}

static enum nvmi_turn wait_for_turn(struct nvmi_thread *thread) {
  uint64_t deadline = nvmi_now_ns() + WAIT_NS;
  bool may_join = false;
  for (unsigned tries = 0;; tries++) {
    bool waits, is_late = nvmi_now_ns() >= deadline;
    uint64_t touched = thread->touched;
    nvmi_lock(&mutex);
    enum nvmi_turn turn = look(thread, is_late, may_join, &waits);
    nvmi_unlock(&mutex);
    if (!waits)
      return turn == NVMI_TURN_JOINED ? await_joined(thread, touched, deadline) : turn;
    if (turn != NVMI_TURN_JOINED)
      pause_a_little(tries);
    else if (nvmi_join_is_safe(thread))
      may_join = true;
    else
      return NVMI_TURN_COMMIT; /* which finds the same, and undoes it */
  }
}

enum nvmi_turn nvmi_order_turn(struct nvmi_thread *thread) {
  thread->waits_for_turn = true;
  nvmi_compiler_barrier();
  enum nvmi_turn turn = wait_for_turn(thread);
  nvmi_compiler_barrier();
  thread->waits_for_turn = false;
  return turn;
}

/* Bytes that several have written go back in reverse order, if all of them get there in time. */
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

void nvmi_order_close(struct nvmi_thread *thread, bool commit) {
  struct nvmi_ticket *ticket = thread->ticket;
  nvmi_lock(&mutex);
  ticket->state = commit ? CLOSED : ABORTING;
  nvmi_unlock(&mutex);
  if (!commit)
    await_dependents(ticket);
  nvmi_join_unpack(thread, &ticket->parcels);
}

/* What an aborted one still depends on its thread's next transaction does, too; also on the one
 * that the thread's last joined, undone or not, until the thread was told. */
void nvmi_order_ended(struct nvmi_thread *thread, bool committed, bool told) {
  struct nvmi_ticket *ticket = thread->ticket, *next = NULL;
  bool keeps_aborted = ticket->follows_joined && !told;
  nvmi_lock(&mutex);
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == ticket || on->state == COMMITTED || (on->state >= ABORTING && !keeps_aborted))
      continue;
    if (!next) {
      next = nvmi_ticket_new();
      next->follows_joined = ticket->follows_joined;
    }
    nvmi_ticket_depend(next, on);
  }
  ticket->state = committed ? COMMITTED : ABORTED;
  purge_releases();
  nvmi_ticket_drop(ticket);
  thread->ticket = next;
  nvmi_unlock(&mutex);
}

/* A transaction that has ended handed what it depends on to this ticket, which nobody knows. */
void nvmi_order_leave(struct nvmi_thread *thread) {
  nvmi_lock(&mutex);
  nvmi_ticket_drop(thread->ticket);
  thread->ticket = NULL;
  nvmi_unlock(&mutex);
}
