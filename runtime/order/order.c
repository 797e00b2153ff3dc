/* order.c: commits follow the order in which locks were handed on inside open transactions.
 *
 * A thread that releases a lock inside a transaction with notes enters (lock, ticket) into a list;
 * one that acquires the lock depends on that ticket from then on, and so, by the locks that it
 * releases in turn, does whoever comes after. Its commit waits until those tickets have ended
 * (order_turn.c).
 */
#define _GNU_SOURCE
#include "order/order.h"

#include "base/clock.h"
#include "base/invariant.h"
#include "base/own_locks.h"
#include "base/pause.h"
#include "base/signal_frame.h"
#include "base/signals.h"
#include "core/gate.h"
#include "core/lines.h"
#include "core/map.h"
#include "order/kept_blocks.h"
#include "order/order_join.h"
#include "order/ticket.h"
#include "order/waits.h"

#include <string.h>

enum { WAIT_NS = 20000000 /* of an abort for dependents */ };

struct release {
  uintptr_t lock; /* | 1: it was held for reading */
  struct nvmi_ticket *ticket;
};

static struct nvmi_mutex *const mutex = &nvmi_locks[NVMI_LOCK_ORDER];
static struct nvmi_array releases; /* struct release, of tickets that have not ended */
_Atomic unsigned nvmi_order_released;

_Thread_local volatile bool nvmi_in_order;
static unsigned ending; /* threads in nvmi_order_ended, which hold a ticket that has ended */

#ifndef NDEBUG
static unsigned refer_to(const struct nvmi_ticket *ticket) {
  unsigned count = nvmi_blocks_refer_to(ticket);
  for (size_t i = 0; i < releases.count; i++)
    count += ((struct release *)releases.items)[i].ticket == ticket;
  return count;
}

static const char *order_fault(void) {
  if (nvmi_order_released != releases.count)
    return "all see how many locks open transactions released";
  const char *fault = nvmi_blocks_fault();
  return fault ? fault : nvmi_tickets_fault(refer_to, ending);
}
#endif

void nvmi_order_lock(void) {
  nvmi_in_order = true;
  nvmi_compiler_barrier();
  nvmi_lock(mutex);
}

bool nvmi_order_try_lock(void) {
  nvmi_in_order = true;
  nvmi_compiler_barrier();
  bool locked = nvmi_try_lock(mutex);
  nvmi_compiler_barrier();
  if (!locked)
    nvmi_in_order = false;
  return locked;
}

/* Where the thread is at work the list stays: a handler must not wait for order's mutex there. Signals wait
 * until all is posted: one may jump out of the store behind which that happens. */
__attribute__((noinline)) void nvmi_order_post(struct nvmi_thread *thread) {
  struct nvmi_post posts[NVMI_POSTS_MAX];
  if (thread->busy || nvmi_in_order)
    return;
  sigset_t before = nvmi_signals_hold();
  unsigned count = thread->posts_count;
  memcpy(posts, thread->posts, count * sizeof *posts);
  thread->posts_count = 0;
  for (unsigned i = 0; i < count; i++) {
    if (thread->touched || thread->ticket)
      nvmi_order_release((uintptr_t)posts[i].semaphore, false, false);
    for (unsigned k = 0; k < posts[i].count; k++)
      nvmi_real_post(posts[i].semaphore);
  }
  nvmi_signals_release(&before);
}

void nvmi_order_unlock(void) {
  NVMI_HOLDS(order_fault());
  nvmi_unlock(mutex);
  nvmi_compiler_barrier();
  nvmi_in_order = false;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(nvmi_self && nvmi_self->posts_count))
    nvmi_order_post(nvmi_self);
}

static void post_later(struct nvmi_thread *thread, void *semaphore) {
  unsigned at = 0;
  while (at < thread->posts_count && thread->posts[at].semaphore != semaphore)
    at++;
  if (at == NVMI_POSTS_MAX)
    nvmi_fatal(
        NVM_ELIMIT, NULL,
        "signal handlers post more than 64 semaphores where they interrupt libnvmove; post less");
  if (at == thread->posts_count) {
    thread->posts[at] = (struct nvmi_post){semaphore, 0};
    thread->posts_count = at + 1;
  }
  thread->posts[at].count++;
}

bool nvmi_order_posts_later(void *semaphore) {
  struct nvmi_thread *thread = nvmi_self;
  if (!thread || !(nvmi_in_order || (thread->busy && nvmi_in_signal_handler())))
    return false;
  sigset_t before = nvmi_signals_hold(); /* another handler may interrupt this one */
  post_later(thread, semaphore);
  nvmi_signals_release(&before);
  return true;
}

void nvmi_order_forget(void) {
  if (nvmi_self)
    nvmi_self->ticket = NULL, nvmi_self->posts_count = 0; /* the parent posts them */
  releases.count = 0;
  nvmi_order_released = ending = 0;
  nvmi_tickets_forget();
  nvmi_blocks_forget();
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

/* Of a thread that has written nothing: it is in no list of locks, and no ticket depends on it. */
static void end_reading(struct nvmi_thread *thread) {
  struct nvmi_ticket *ticket = thread->ticket;
  ticket->state = COMMITTED;
  ticket->thread = NULL;
  nvmi_ticket_drop(ticket);
  thread->ticket = NULL;
}

static void enter_release(uintptr_t lock, struct nvmi_ticket *ticket) {
  const struct release *all = releases.items;
  for (size_t i = 0; i < releases.count; i++)
    if (all[i].lock == lock && all[i].ticket == ticket)
      return;
  struct release fresh = {lock, ticket};
  ticket->references++;
  nvmi_order_push(&releases, &fresh, sizeof fresh);
  nvmi_order_released = (unsigned)releases.count;
}

static void hand_on_each(uintptr_t lock, const struct nvmi_ticket *ticket) {
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (!nvmi_ticket_ended(nvmi_ticket_deps(ticket)[i]))
      enter_release(lock, nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]));
}

/* A thread that has written nothing hands on what it depends on, never itself: it may be a reader
 * outside transactions, whose own never ends. Where it stands outside transactions and releases its
 * last lock, it no longer depends on what was undone before. False: there is nothing. */
static bool hand_on(uintptr_t lock, struct nvmi_ticket *ticket, bool is_last) {
  nvmi_ticket_forget_ended(ticket, is_last && !nvmi_in_transaction(ticket->thread));
  hand_on_each(lock, ticket);
  return ticket->deps.count;
}

/* Who waits for what it has joined has written nothing since, but in handlers. */
static void hand_on_lock(struct nvmi_thread *thread, uintptr_t lock, bool is_last) {
  struct nvmi_ticket *ticket = thread->ticket;
  if (thread->touched || ticket->parcels.count || (thread->ends && !ticket->has_joined))
    enter_release(lock, ticket);
  else if (ticket->has_joined)
    hand_on_each(lock, ticket); /* the wait looks at what it depends on */
  else if (!hand_on(lock, ticket, is_last))
    end_reading(thread);
}

void nvmi_order_release(uintptr_t lock, bool captures, bool is_last) {
  struct nvmi_thread *thread = nvmi_self;
  nvmi_uses_open(thread);
  nvmi_order_lock();
  if (captures)
    nvmi_join_capture(thread);
  if (!thread->ticket)
    thread->ticket = nvmi_ticket_new(thread);
  if (!captures && thread->handlers_store)
    thread->ticket->unsafe = true; /* not looked at here: the commit does */
  uint64_t uncaptured = captures ? nvmi_join_uncaptured(thread) : 0;
  if (NVMI_UNLIKELY(uncaptured != 0)) {
    nvmi_order_unlock();
    nvmi_join_judge(thread, uncaptured);
    nvmi_order_lock();
  }
  hand_on_lock(thread, lock, is_last);
  nvmi_order_unlock();
  nvmi_used_open(thread);
}

/* Nobody can read any more what an aborted transaction wrote. */
void nvmi_order_begin(struct nvmi_thread *thread) {
  nvmi_order_lock();
  struct nvmi_ticket *ticket = thread->ticket;
  if (ticket)
    nvmi_ticket_forget_ended(ticket, true);
  if (ticket && !ticket->deps.count && ticket->references == 1) {
    nvmi_ticket_drop(ticket);
    thread->ticket = NULL;
  }
  nvmi_order_unlock();
}

/* One that held the lock for reading hands nothing on to another reader. */
static bool is_handed_on(const struct release *one, uintptr_t lock) {
  return (one->lock & ~(uintptr_t)1) == (lock & ~(uintptr_t)1) && !(one->lock & lock & 1);
}

/* False: one of those that released it is being undone; until that is over its bytes are neither
 * the old ones nor to be relied on. */
static bool depend_on_releases(uintptr_t lock) {
  if (nvmi_self && nvmi_self->left) /* a fence of its own domain, say: nothing is stored any more */
    return true;
  for (size_t i = 0; i < releases.count; i++) {
    const struct release *one = (const struct release *)releases.items + i;
    struct nvmi_ticket *on = nvmi_ticket_root(one->ticket);
    if (!is_handed_on(one, lock) || on->state >= COMMITTED)
      continue;
    if (on->state == ABORTING && (!nvmi_self || on != nvmi_self->ticket))
      return false;
    struct nvmi_thread *thread = nvmi_thread_self();
    if (!thread->ticket)
      thread->ticket = nvmi_ticket_new(thread);
    if (on != thread->ticket)
      nvmi_ticket_depend(thread->ticket, on);
  }
  return true;
}

void nvmi_order_acquire(uintptr_t lock) {
  for (unsigned tries = 0;; tries++) {
    nvmi_order_lock();
    bool known = depend_on_releases(lock);
    nvmi_order_unlock();
    if (known)
      return;
    nvmi_pause(tries);
  }
}

bool nvmi_order_waits(const struct nvmi_thread *thread) {
  if (!thread->ticket)
    return false;
  nvmi_order_lock();
  bool waits = nvmi_ticket_waits(thread->ticket);
  nvmi_order_unlock();
  return waits;
}

/* Who is told in time undoes first, and sees nothing change under its hands. */
static void await_dependents(const struct nvmi_ticket *ticket) {
  uint64_t deadline = nvmi_now_ns() + WAIT_NS;
  bool some = true;
  for (unsigned tries = 0; some && nvmi_now_ns() < deadline; tries++) {
    nvmi_order_lock();
    some = nvmi_ticket_has_dependents(ticket);
    nvmi_order_unlock();
    if (some)
      nvmi_pause(tries);
  }
}

uint64_t nvmi_order_close(struct nvmi_thread *thread, bool commit) {
  struct nvmi_ticket *ticket = thread->ticket;
  uint64_t pools = thread->touched;
  nvmi_order_lock();
  const struct nvmi_parcel *parcels = ticket->parcels.items;
  ticket->state = commit ? CLOSED : ABORTING;
  for (size_t i = 0; i < ticket->parcels.count; i++)
    pools |= UINT64_C(1) << parcels[i].pool->index;
  nvmi_order_unlock();
  if (!commit)
    await_dependents(ticket);
  return pools;
}

/* Those of its dependences that have not ended the thread's next transaction has, too. */
static void inherit(struct nvmi_thread *thread, const struct nvmi_ticket *ticket) {
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == ticket || on->state >= COMMITTED)
      continue;
    if (!thread->ticket)
      thread->ticket = nvmi_ticket_new(thread);
    nvmi_ticket_depend(thread->ticket, on);
  }
}

static bool depends_on_breaking(const struct nvmi_ticket *ticket) {
  for (size_t i = 0; i < ticket->deps.count; i++)
    if (nvmi_breaks_soon(nvmi_ticket_root(nvmi_ticket_deps(ticket)[i])))
      return true;
  return false;
}

/* What comes next must find the bytes that an abort takes back taken back, also those of a commit
 * that waits and has not yet seen that it is undone with it. No circle: this one has ended. */
static void await_breaking(const struct nvmi_ticket *ticket) {
  for (unsigned tries = 0; depends_on_breaking(ticket); tries++) {
    nvmi_order_unlock();
    nvmi_pause(tries);
    nvmi_order_lock();
  }
}

/* A signal handler that posts during the wait makes the next transaction's ticket. */
void nvmi_order_ended(struct nvmi_thread *thread, bool committed) {
  nvmi_order_lock();
  struct nvmi_ticket *ticket = thread->ticket;
  ticket->state = committed ? COMMITTED : ABORTED;
  ticket->thread = NULL;
  purge_releases();
  thread->ticket = NULL;
  thread->stays_open = false;
  ending++;
  await_breaking(ticket);
  inherit(thread, ticket);
  /* Who follows an aborted one finds what that one still followed. */
  if (committed)
    nvmi_ticket_forget(ticket);
  else
    nvmi_ticket_forget_ended(ticket, true);
  nvmi_ticket_drop(ticket);
  ending--;
  nvmi_order_unlock();
}

/* What the thread has only read ends with it: others may wait for that (kept_blocks.h). */
void nvmi_order_leave(struct nvmi_thread *thread) {
  nvmi_order_lock();
  if (thread->ticket)
    end_reading(thread);
  thread->left = true;
  nvmi_order_unlock();
  nvmi_blocks_give_back(thread);
}
