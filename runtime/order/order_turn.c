/* order_turn.c: a commit waits for its turn (order.h), as long as that takes: no transaction
 * commits before one whose uncommitted bytes it may have read, and no commit returns success before
 * both are durable.
 *
 * Two kinds of circle end a wait. Commits that wait for each other become one: each but one joins
 * another, whose record has the bytes of all, and returns when that is durable. A commit that waits
 * for a transaction that runs, and wants a lock which a thread of this circle holds until its own
 * commit has returned, would wait for ever: it is undone (NVM_EDEADLOCK), its thread can release
 * the lock. waits.c finds both.
 */
#include "order/order_turn.h"

#include "base/clock.h"
#include "base/pause.h"
#include "base/signals.h"
#include "core/lines.h"
#include "core/root_hooks.h"
#include "order/order.h"
#include "order/order_join.h"
#include "order/ticket.h"
#include "order/waits.h"

enum {
  SOON_NS = 20000000,  /* a wait for what nobody asked to be durable */
  TELL_NS = 1000000000 /* after that a wait is told of */
};
#define NEVER UINT64_MAX

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
  nvmi_ticket_forget(ticket);
  ticket->into = into;
  ticket->thread = NULL;
  into->references++;
  thread->ticket = next;
  next->waiting = next->has_joined = true;
  nvmi_ticket_drop(ticket);
}

/* What a look found, and what the thread does then. */
enum step { WAIT, GO, BROKEN, JOIN, STUCK };

/* What the commit depends on: has all of it ended? One that waits for this commit (`into`) may be
 * joined: first all who wait are looked at. */
static enum step look(struct nvmi_thread *thread, struct nvmi_ticket **into) {
  struct nvmi_ticket *ticket = thread->ticket;
  bool reads = !nvmi_ticket_writes(ticket), waits = false, stuck = false;
  *into = NULL;
  for (size_t i = 0; i < ticket->deps.count; i++) {
    struct nvmi_ticket *on = nvmi_ticket_root(nvmi_ticket_deps(ticket)[i]);
    if (on == ticket || on->state == COMMITTED || (reads && on->state == ABORTED))
      continue;
    if (on->state >= ABORTING && !reads)
      return BROKEN;
    waits = true;
    bool in_circle = on->state == OPEN && nvmi_commits_wait(on, ticket);
    if (in_circle && !on->has_joined)
      *into = on;
    else if (in_circle)
      stuck = true; /* what a handler stored there is committed only behind that wait */
    else if (on->state == OPEN)
      stuck = stuck || nvmi_never_ends(on, ticket);
  }
  if (!waits)
    return GO;
  return stuck ? STUCK : *into ? JOIN : WAIT;
}

/* Once a wait: a program that stands still says why. */
static void tell_of_wait(struct nvmi_thread *thread) {
  nvmi_order_lock();
  const struct nvmi_thread *other = nvmi_waited_for(thread->ticket);
  long id = other ? other->id : 0;
  nvmi_order_unlock();
  nvmi_tell(
      "nvmove: a commit of thread %d waits for thread %ld: that one released a lock inside a "
      "transaction which it has not ended (docs/reference/semantics.md, \"Locks released inside a "
      "transaction\")\n",
      thread->id, id);
}

/* Until what was joined has ended. */
static enum nvmi_turn await_joined(struct nvmi_thread *thread) {
  struct nvmi_ticket *ticket = thread->ticket;
  for (unsigned tries = 0;; tries++) {
    nvmi_order_lock();
    enum nvmi_ticket_state state = nvmi_ticket_root(nvmi_ticket_deps(ticket)[0])->state;
    nvmi_order_unlock();
    if (state >= COMMITTED)
      return state == COMMITTED ? NVMI_TURN_COMMIT : NVMI_TURN_BROKEN;
    nvmi_pause(tries);
  }
}

/* The order's mutex keeps the ticket that is joined where it is, in its wait. */
static enum step look_once(struct nvmi_thread *thread, bool may_join, bool *joined) {
  struct nvmi_ticket *into, *ticket = thread->ticket;
  nvmi_order_lock();
  enum step step = look(thread, &into);
  *joined = step == JOIN && may_join;
  if (*joined)
    join(thread, into);
  else
    ticket->waiting = step == WAIT || step == JOIN;
  if (step == BROKEN) /* decided: nobody takes it for one that runs */
    ticket->state = ABORTING;
  nvmi_order_unlock();
  return step;
}

/* What joins has the roots as they are with what else it has: signals wait from the look at them on. */
static enum step look_and_join(struct nvmi_thread *thread, bool may_join, bool *joined) {
  const struct nvmi_root_events *roots = thread->roots;
  if (NVMI_LIKELY(!may_join || !roots || !roots->saves))
    return look_once(thread, may_join, joined);
  sigset_t before = nvmi_signals_hold();
  roots->before_commit();
  enum step step = look_once(thread, may_join, joined);
  nvmi_signals_release(&before);
  return step;
}

static enum nvmi_turn wait_for_turn(struct nvmi_thread *thread, uint64_t patience) {
  uint64_t start = 0; /* most do not wait, and the clock costs a system call */
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
      if (patience != NEVER) /* a wait for what was joined has no end that is known */
        break;
      if (!nvmi_join_is_safe(thread))
        return NVMI_TURN_UNSAFE;
      may_join = true;
      continue;
    case WAIT:
      break;
    }
    if (!start)
      start = nvmi_now_ns();
    uint64_t waited = nvmi_now_ns() - start;
    if (waited >= patience)
      return NVMI_TURN_LATER;
    if (waited >= TELL_NS && !told) {
      tell_of_wait(thread);
      told = true;
    }
    nvmi_pause(tries);
  }
}

/* From here on it runs: what waits for it is in no circle with it. */
static void stop_waiting(struct nvmi_ticket *ticket) {
  nvmi_order_lock();
  ticket->waiting = ticket->has_joined = false;
  nvmi_order_unlock();
}

/* A signal handler's release may have been the end of the ticket, until the thread says `ends`. */
static enum nvmi_turn turn(struct nvmi_thread *thread, uint64_t patience) {
  bool ended = thread->ends;
  thread->ends = thread->awaits = true;
  nvmi_compiler_barrier();
  enum nvmi_turn turn = thread->ticket ? wait_for_turn(thread, patience) : NVMI_TURN_COMMIT;
  if (thread->ticket && thread->ticket->waiting)
    stop_waiting(thread->ticket);
  nvmi_compiler_barrier();
  thread->awaits = false;
  thread->ends = ended;
  return turn;
}

enum nvmi_turn nvmi_order_turn(struct nvmi_thread *thread) { return turn(thread, NEVER); }
enum nvmi_turn nvmi_order_turn_soon(struct nvmi_thread *thread) { return turn(thread, SOON_NS); }
