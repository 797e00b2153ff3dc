/* order.c: commits follow the order in which locks were handed on inside open transactions.
 *
 * A thread that releases a lock inside a transaction with notes enters (lock, ticket) into a list;
 * one that acquires the lock depends on that ticket from then on, and so, by the locks that it
 * releases in turn, does whoever comes after. Its commit waits until those tickets have ended. So
 * no transaction commits before one whose uncommitted bytes it may have read.
 *
 * The other may be unable to go on: it may want a lock that this thread holds until its commit has
 * returned, or wait for it in a way that nobody sees. So the wait is bounded, and where two commits
 * wait for each other there is none: then the transaction joins the other's. It has ended for its
 * thread, which goes on and may release its locks; its bytes commit with the other's, by one
 * record, or not at all. Nothing waits for a joined transaction but what waits for the other's; so
 * every thread that could go on without these rules can go on with them.
 */
#define _GNU_SOURCE
#include "order.h"

#include "clock.h"
#include "locks.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
  WAIT_NS = 20000000, /* for a preempted thread to come back and end its transaction */
  YIELDS = 64,        /* before sleeping */
  NAP_NS = 50000,
  DEPTH_MAX = 64, /* of a chain of waiting commits that is looked through for a circle */
  TICKETS = 64    /* made at once */
};

/* Closed: nobody may join any more. Aborting: those that depend on it are to be undone first. */
enum state { OPEN, CLOSED, ABORTING, COMMITTED, ABORTED };

struct nvmi_ticket {
  enum state state;
  bool waiting;             /* in nvmi_order_turn */
  bool follows_joined;      /* the thread's transaction before this one may still be undone */
  unsigned seen;            /* by the search of this number */
  unsigned references;      /* of threads, the list of locks, other tickets */
  struct nvmi_ticket *into; /* joined that one; next free ticket */
  struct nvmi_array deps;   /* struct nvmi_ticket * */
  struct nvmi_array parcels;
};

struct release {
  const void *lock;
  struct nvmi_ticket *ticket;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct nvmi_array releases; /* struct release, of tickets that have not ended */
static struct nvmi_ticket *free_tickets;
static struct nvmi_array slabs; /* struct nvmi_ticket *: TICKETS each */
static unsigned search;         /* the number of the last one, from 1 on */
_Atomic unsigned nvmi_order_released;

void nvmi_order_lock(void) { nvmi_lock(&mutex); }
void nvmi_order_unlock(void) { nvmi_unlock(&mutex); }

void nvmi_order_forget(void) {
  if (nvmi_self)
    nvmi_self->ticket = NULL;
  releases.count = 0;
  nvmi_order_released = 0;
}

static void push(struct nvmi_array *array, const void *item, size_t size) {
  if (!nvmi_array_push(array, item, size))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the order of transactions");
}

static struct nvmi_ticket *new_ticket(void) {
  if (!free_tickets) {
    struct nvmi_ticket *fresh = mmap(NULL, TICKETS * sizeof *fresh, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
      nvmi_die(NULL, "out of memory for the order of transactions");
    push(&slabs, &fresh, sizeof fresh);
    for (unsigned i = 0; i < TICKETS; i++) {
      fresh[i].into = free_tickets;
      free_tickets = &fresh[i];
    }
  }
  struct nvmi_ticket *ticket = free_tickets;
  free_tickets = ticket->into;
  ticket->state = OPEN;
  ticket->waiting = ticket->follows_joined = false;
  ticket->into = NULL;
  ticket->references = 1;
  return ticket;
}

static struct nvmi_ticket **deps_of(const struct nvmi_ticket *ticket) { return ticket->deps.items; }

static void drop(struct nvmi_ticket *ticket) {
  while (ticket && --ticket->references == 0) {
    for (size_t i = 0; i < ticket->deps.count; i++)
      drop(deps_of(ticket)[i]);
    ticket->deps.count = 0;
    struct nvmi_ticket *into = ticket->into;
    ticket->into = free_tickets;
    free_tickets = ticket;
    ticket = into;
  }
}

/* The ticket that decides about this one. */
static struct nvmi_ticket *root_of(struct nvmi_ticket *ticket) {
  while (ticket->into)
    ticket = ticket->into;
  return ticket;
}

static bool has_ended(struct nvmi_ticket *ticket) { return root_of(ticket)->state >= COMMITTED; }

/* A thread that only reads never ends its transaction: what it depended on must not pile up. */
static void forget_ended(struct nvmi_ticket *ticket, bool aborted_too) {
  struct nvmi_ticket **deps = deps_of(ticket);
  size_t kept = 0;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    enum state state = root_of(deps[i])->state;
    if (state == COMMITTED || (state == ABORTED && aborted_too))
      drop(deps[i]);
    else
      deps[kept++] = deps[i];
  }
  ticket->deps.count = kept;
}

static void depend(struct nvmi_ticket *ticket, struct nvmi_ticket *on) {
  forget_ended(ticket, false);
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (deps_of(ticket)[i] == on)
      return;
  on->references++;
  push(&ticket->deps, &on, sizeof(struct nvmi_ticket *));
}

static void purge_releases(void) {
  struct release *all = releases.items;
  size_t kept = 0;
  for (size_t i = 0; i < releases.count; i++) {
    if (has_ended(all[i].ticket))
      drop(all[i].ticket);
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
  push(&releases, &fresh, sizeof fresh);
  nvmi_order_released = (unsigned)releases.count;
}

/* A thread that has written nothing hands on what it depends on, never itself: it may be a reader
 * outside transactions, whose own never ends. False: there is nothing. */
static bool hand_on(const void *lock, struct nvmi_ticket *ticket) {
  forget_ended(ticket, false);
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (!has_ended(deps_of(ticket)[i]))
      enter_release(lock, root_of(deps_of(ticket)[i]));
  return ticket->deps.count;
}

void nvmi_order_release(const void *lock) {
  struct nvmi_thread *thread = nvmi_self;
  nvmi_join_seal(thread);
  nvmi_lock(&mutex);
  if (!thread->ticket)
    thread->ticket = new_ticket();
  if (thread->touched || thread->ticket->parcels.count) {
    enter_release(lock, thread->ticket);
  } else if (!hand_on(lock, thread->ticket)) {
    thread->ticket->state = COMMITTED;
    drop(thread->ticket);
    thread->ticket = NULL;
  }
  nvmi_unlock(&mutex);
}

/* Nobody can read any more what an aborted transaction wrote. Only a thread whose last one joined
 * it has lost something, and must learn of it from the commit that follows. */
void nvmi_order_begin(struct nvmi_thread *thread) {
  struct nvmi_ticket *ticket = thread->ticket;
  nvmi_lock(&mutex);
  forget_ended(ticket, !ticket->follows_joined);
  if (!ticket->deps.count && ticket->references == 1) {
    drop(ticket);
    thread->ticket = NULL;
  }
  nvmi_unlock(&mutex);
}

void nvmi_order_acquire(const void *lock) {
  nvmi_lock(&mutex);
  for (size_t i = 0; i < releases.count; i++) {
    const struct release *one = (const struct release *)releases.items + i;
    struct nvmi_ticket *on = root_of(one->ticket);
    if (one->lock != lock || on->state >= COMMITTED)
      continue;
    struct nvmi_thread *thread = nvmi_thread_self();
    if (!thread->ticket)
      thread->ticket = new_ticket();
    if (on != thread->ticket)
      depend(thread->ticket, on);
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
    struct nvmi_ticket *on = root_of(deps_of(waiting)[i]);
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
    push(&into->parcels, (struct nvmi_parcel *)ticket->parcels.items + i,
         sizeof(struct nvmi_parcel));
  ticket->parcels.count = 0;
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (root_of(deps_of(ticket)[i]) != into)
      depend(into, deps_of(ticket)[i]);
  ticket->into = into;
  into->references++;
  thread->ticket = new_ticket();
  thread->ticket->follows_joined = true;
  depend(thread->ticket, into);
  drop(ticket);
}

/* What a commit depends on and has not ended: one that may be joined if there is any; one that
 * waits for this commit, and may be joined. Broken: one is being undone, or was. */
struct open {
  struct nvmi_ticket *any, *circular;
  bool broken;
};

static struct open open_of(struct nvmi_ticket *ticket) {
  struct open open = {0};
  search++;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = root_of(deps_of(ticket)[i]);
    if (on == ticket || on->state == COMMITTED)
      continue;
    if (on->state >= ABORTING)
      open.broken = true;
    else if (!open.any || on->state == OPEN)
      open.any = on;
    if (on->state == OPEN && waits_for(on, ticket, DEPTH_MAX))
      open.circular = on;
  }
  return open;
}

/* One look: what the commit may do, or (`*waits`) nothing yet. */
static enum nvmi_turn look(struct nvmi_thread *thread, bool is_late, bool *waits) {
  struct nvmi_ticket *ticket = thread->ticket;
  struct open open = open_of(ticket);
  bool writes = thread->touched || ticket->parcels.count;
  *waits = ticket->waiting = open.any && !open.broken;
  if (!*waits) {
    ticket->state = CLOSED;
    return open.broken ? NVMI_TURN_BROKEN : NVMI_TURN_COMMIT;
  }
  if (!open.circular && (open.any->state != OPEN || (writes && !is_late)))
    return NVMI_TURN_COMMIT;
  join(thread, open.circular ? open.circular : open.any);
  *waits = false;
  return NVMI_TURN_JOINED;
}

static void pause_a_little(unsigned tries) {
  if (tries < YIELDS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

enum nvmi_turn nvmi_order_turn(struct nvmi_thread *thread) {
  uint64_t deadline = nvmi_now_ns() + WAIT_NS;
  for (unsigned tries = 0;; tries++) {
    bool waits, is_late = nvmi_now_ns() >= deadline;
    nvmi_lock(&mutex);
    enum nvmi_turn turn = look(thread, is_late, &waits);
    nvmi_unlock(&mutex);
    if (!waits)
      return turn;
    pause_a_little(tries);
  }
}

static bool depends_on(const struct nvmi_ticket *ticket, const struct nvmi_ticket *on) {
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (root_of(deps_of(ticket)[i]) == on)
      return true;
  return false;
}

static bool has_dependents(const struct nvmi_ticket *ticket) {
  for (size_t slab = 0; slab < slabs.count; slab++) {
    struct nvmi_ticket *each = ((struct nvmi_ticket **)slabs.items)[slab];
    for (unsigned i = 0; i < TICKETS; i++)
      if (each[i].references && each[i].state < COMMITTED && !each[i].into &&
          depends_on(&each[i], ticket))
        return true;
  }
  return false;
}

/* Bytes that several have written go back in reverse order, if all of them get there in time. */
static void await_dependents(const struct nvmi_ticket *ticket) {
  uint64_t deadline = nvmi_now_ns() + WAIT_NS;
  bool some = true;
  for (unsigned tries = 0; some && nvmi_now_ns() < deadline; tries++) {
    nvmi_lock(&mutex);
    some = has_dependents(ticket);
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
    struct nvmi_ticket *on = root_of(deps_of(ticket)[i]);
    if (on == ticket || on->state == COMMITTED || (on->state >= ABORTING && !keeps_aborted))
      continue;
    if (!next) {
      next = new_ticket();
      next->follows_joined = ticket->follows_joined;
    }
    depend(next, on);
  }
  ticket->state = committed ? COMMITTED : ABORTED;
  purge_releases();
  drop(ticket);
  thread->ticket = next;
  nvmi_unlock(&mutex);
}

void nvmi_order_leave(struct nvmi_thread *thread) {
  if (nvmi_order_turn(thread) != NVMI_TURN_JOINED)
    nvmi_order_ended(thread, true, true);
  nvmi_lock(&mutex);
  drop(thread->ticket);
  thread->ticket = NULL;
  nvmi_unlock(&mutex);
}
