/* commit_wait.c: a commit waits for the transactions that it depends on, as long as that takes: no
 * transaction commits before one whose uncommitted bytes it may have read, and no commit returns
 * success before both are durable.
 *
 * Two kinds of cycle end a wait. Commits that wait for each other become one: each but one joins
 * another, whose record has the bytes of all, and returns when that is durable. A commit that waits
 * for a transaction that runs, and wants a lock which a thread of this cycle holds until its own
 * commit has returned, would wait for ever: it is undone (NVM_EDEADLOCK), its thread can release
 * the lock. waits.c finds both.
 */
#include "order/commit_wait.h"

#include "base/clock.h"
#include "base/signals.h"
#include "core/lines.h"
#include "core/root_hooks.h"
#include "order/ended.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"
#include "order/waits.h"

enum {
  SOON_NS = 20000000,  /* a wait for what nobody asked to be durable */
  TELL_NS = 1000000000 /* after that a wait is told of */
};
#define NEVER UINT64_MAX

/* The thread goes on waiting, now for the one that it joined; what it depends on besides its next
 * transaction does, too. */
static void join(struct nvmi_thread *thread, struct nvmi_node *into) {
  struct nvmi_node *node = thread->node, *next = nvmi_node_new(thread);
  nvmi_join_pack(thread, &node->parcels);
  for (size_t i = 0; i < node->parcels.count; i++)
    nvmi_order_push(&into->parcels, (struct nvmi_parcel *)node->parcels.items + i,
                    sizeof(struct nvmi_parcel));
  node->parcels.count = 0;
  nvmi_node_depend(next, into);
  for (size_t i = 0; i < node->deps.count; i++) {
    struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
    if (on == into || on == node)
      continue;
    nvmi_node_depend(into, on);
    nvmi_node_depend(next, on);
  }
  nvmi_node_forget(node);
  node->into = into;
  node->thread = NULL;
  into->references++;
  thread->node = next;
  next->waiting = next->has_joined = true;
  nvmi_node_drop(node);
  nvmi_tell_end();
}

/* What a look found, and what the thread does then. */
enum step { WAIT, GO, BROKEN, JOIN, STUCK };

/* What the commit depends on: has all of it ended? One that waits for this commit (`into`) may be
 * joined: first all who wait are looked at. */
static enum step look(struct nvmi_thread *thread, struct nvmi_node **into) {
  struct nvmi_node *node = thread->node;
  bool reads = !nvmi_node_writes(node), waits = false, stuck = false;
  *into = NULL;
  for (size_t i = 0; i < node->deps.count; i++) {
    struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
    if (on == node || on->state == COMMITTED || (reads && on->state == ABORTED))
      continue;
    if (on->state >= ABORTING && !reads)
      return BROKEN;
    waits = true;
    bool in_cycle = on->state == OPEN && nvmi_commits_wait(on, node);
    if (in_cycle && !on->has_joined)
      *into = on;
    else if (in_cycle)
      stuck = true; /* what a handler stored there is committed only behind that wait */
    else if (on->state == OPEN)
      stuck = stuck || nvmi_never_ends(on, node);
  }
  if (!waits)
    return GO;
  return stuck ? STUCK : *into ? JOIN : WAIT;
}

/* Once a wait: a program that stands still says why. */
static void tell_of_wait(struct nvmi_thread *thread) {
  nvmi_order_lock();
  const struct nvmi_thread *other = nvmi_waited_for(thread->node);
  long id = other ? other->id : 0;
  nvmi_order_unlock();
  nvmi_tell(
      "nvmove: a commit of thread %d waits for thread %ld: that one released a lock inside a "
      "transaction which it has not ended (docs/reference/semantics.md, \"Locks released inside a "
      "transaction\")\n",
      thread->id, id);
}

/* Until what was joined has ended. */
static enum nvmi_waited await_joined(struct nvmi_thread *thread) {
  struct nvmi_node *node = thread->node;
  for (unsigned tries = 0;; tries++) {
    uint32_t seen = nvmi_ends();
    nvmi_order_lock();
    enum nvmi_node_state state = nvmi_node_root(nvmi_node_deps(node)[0])->state;
    nvmi_order_unlock();
    if (state >= COMMITTED)
      return state == COMMITTED ? NVMI_WAITED_COMMIT : NVMI_WAITED_BROKEN;
    nvmi_await_end(seen, tries);
  }
}

/* The order's mutex keeps the node that is joined where it is, in its wait. */
static enum step look_once(struct nvmi_thread *thread, bool may_join, bool *joined) {
  struct nvmi_node *into, *node = thread->node;
  nvmi_order_lock();
  enum step step = look(thread, &into);
  *joined = step == JOIN && may_join;
  if (*joined)
    join(thread, into);
  else
    node->waiting = step == WAIT || step == JOIN;
  if (step == BROKEN) { /* decided: nobody takes it for one that runs */
    node->state = ABORTING;
    nvmi_tell_end();
  }
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

static enum nvmi_waited wait_for_others(struct nvmi_thread *thread, uint64_t patience) {
  uint64_t start = 0; /* most do not wait, and the clock costs a system call */
  bool may_join = false, joined, told = false;
  for (unsigned tries = 0;; tries++) {
    uint32_t seen = nvmi_ends();
    switch (look_and_join(thread, may_join, &joined)) {
    case GO:
      return NVMI_WAITED_COMMIT;
    case BROKEN:
      return NVMI_WAITED_BROKEN;
    case STUCK:
      return NVMI_WAITED_STUCK;
    case JOIN:
      if (joined)
        return await_joined(thread);
      if (patience != NEVER) /* a wait for what was joined has no end that is known */
        break;
      if (!nvmi_join_is_safe(thread))
        return NVMI_WAITED_UNSAFE;
      may_join = true;
      continue;
    case WAIT:
      break;
    }
    if (!start)
      start = nvmi_now_ns();
    uint64_t waited = nvmi_now_ns() - start;
    if (waited >= patience)
      return NVMI_WAITED_LATER;
    if (waited >= TELL_NS && !told) {
      tell_of_wait(thread);
      told = true;
    }
    nvmi_await_end(seen, tries);
  }
}

/* From here on it runs: what waits for it is in no cycle with it. */
static void stop_waiting(struct nvmi_node *node) {
  nvmi_order_lock();
  node->waiting = node->has_joined = false;
  nvmi_order_unlock();
}

/* A signal handler's release may have been the end of the node, until the thread says `ends`. */
static enum nvmi_waited wait_in_order(struct nvmi_thread *thread, uint64_t patience) {
  bool ended = thread->ends;
  thread->ends = thread->awaits = true;
  nvmi_compiler_barrier();
  enum nvmi_waited waited = thread->node ? wait_for_others(thread, patience) : NVMI_WAITED_COMMIT;
  if (thread->node && thread->node->waiting)
    stop_waiting(thread->node);
  nvmi_compiler_barrier();
  thread->awaits = false;
  thread->ends = ended;
  return waited;
}

enum nvmi_waited nvmi_commit_wait(struct nvmi_thread *thread) {
  return wait_in_order(thread, NEVER);
}
enum nvmi_waited nvmi_commit_wait_soon(struct nvmi_thread *thread) {
  return wait_in_order(thread, SOON_NS);
}
