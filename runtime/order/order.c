/* order.c: commits follow the order in which locks were handed on inside open transactions.
 *
 * A thread that releases a lock inside a transaction with notes enters (lock, node) into a list;
 * one that acquires the lock depends on that node from then on, and so, by the locks that it
 * releases in turn, does whoever comes after. Its commit waits until those nodes have ended
 * (commit_wait.c).
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
#include "order/ended.h"
#include "order/kept_blocks.h"
#include "order/node.h"
#include "order/order_join.h"
#include "order/waits.h"

#include <string.h>

enum { WAIT_NS = 20000000 /* of an abort for dependents */ };

struct release {
  uintptr_t lock; /* | 1: it was held for reading */
  struct nvmi_node *node;
};

static struct nvmi_mutex *const mutex = &nvmi_locks[NVMI_LOCK_ORDER];
static struct nvmi_array releases; /* struct release, of nodes that have not ended */
_Atomic unsigned nvmi_order_released;

_Thread_local volatile bool nvmi_in_order;
static unsigned ending; /* threads in nvmi_order_ended, which hold a node that has ended */

#ifndef NDEBUG
static void list_references(void (*refer)(struct nvmi_node *)) {
  for (size_t i = 0; i < releases.count; i++)
    refer(((struct release *)releases.items)[i].node);
  nvmi_blocks_list_references(refer);
}

static const char *order_fault(void) {
  if (nvmi_order_released != releases.count)
    return "all see how many locks open transactions released";
  const char *fault = nvmi_blocks_fault();
  return fault ? fault : nvmi_nodes_fault(list_references, ending);
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
    if (thread->touched || thread->node)
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
    nvmi_self->node = NULL, nvmi_self->posts_count = 0; /* the parent posts them */
  releases.count = 0;
  nvmi_order_released = ending = 0;
  nvmi_nodes_forget();
  nvmi_blocks_forget();
}

static void purge_releases(void) {
  struct release *all = releases.items;
  size_t kept = 0;
  for (size_t i = 0; i < releases.count; i++) {
    if (nvmi_node_ended(all[i].node))
      nvmi_node_drop(all[i].node);
    else
      all[kept++] = all[i];
  }
  releases.count = kept;
  nvmi_order_released = (unsigned)kept;
}

/* Of a thread that has written nothing: it is in no list of locks, and no node depends on it. */
static void end_reading(struct nvmi_thread *thread) {
  struct nvmi_node *node = thread->node;
  node->state = COMMITTED;
  node->thread = NULL;
  nvmi_node_drop(node);
  thread->node = NULL;
  nvmi_tell_end();
}

static void enter_release(uintptr_t lock, struct nvmi_node *node) {
  const struct release *all = releases.items;
  for (size_t i = 0; i < releases.count; i++)
    if (all[i].lock == lock && all[i].node == node)
      return;
  struct release fresh = {lock, node};
  node->references++;
  nvmi_order_push(&releases, &fresh, sizeof fresh);
  nvmi_order_released = (unsigned)releases.count;
}

static void hand_on_each(uintptr_t lock, const struct nvmi_node *node) {
  for (size_t i = 0; i < node->deps.count; i++)
    if (!nvmi_node_ended(nvmi_node_deps(node)[i]))
      enter_release(lock, nvmi_node_root(nvmi_node_deps(node)[i]));
}

/* A thread that has written nothing hands on what it depends on, never itself: it may be a reader
 * outside transactions, whose own never ends. Where it stands outside transactions and releases its
 * last lock, it no longer depends on what was undone before. False: there is nothing. */
static bool hand_on(uintptr_t lock, struct nvmi_node *node, bool is_last) {
  nvmi_node_forget_ended(node, is_last && !nvmi_in_transaction(node->thread));
  hand_on_each(lock, node);
  return node->deps.count;
}

/* Who waits for what it has joined has written nothing since, but in handlers. */
static void hand_on_lock(struct nvmi_thread *thread, uintptr_t lock, bool is_last) {
  struct nvmi_node *node = thread->node;
  if (thread->touched || node->parcels.count || (thread->ends && !node->has_joined))
    enter_release(lock, node);
  else if (node->has_joined)
    hand_on_each(lock, node); /* the wait looks at what it depends on */
  else if (!hand_on(lock, node, is_last))
    end_reading(thread);
}

void nvmi_order_release(uintptr_t lock, bool captures, bool is_last) {
  struct nvmi_thread *thread = nvmi_self;
  nvmi_uses_open(thread);
  nvmi_order_lock();
  if (captures)
    nvmi_join_capture(thread);
  if (!thread->node)
    thread->node = nvmi_node_new(thread);
  if (!captures && thread->handlers_store)
    thread->node->unsafe = true; /* not looked at here: the commit does */
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
  struct nvmi_node *node = thread->node;
  if (node)
    nvmi_node_forget_ended(node, true);
  if (node && !node->deps.count && node->references == 1) {
    nvmi_node_drop(node);
    thread->node = NULL;
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
    struct nvmi_node *on = nvmi_node_root(one->node);
    if (!is_handed_on(one, lock) || on->state >= COMMITTED)
      continue;
    if (on->state == ABORTING && (!nvmi_self || on != nvmi_self->node))
      return false;
    struct nvmi_thread *thread = nvmi_thread_self();
    if (!thread->node)
      thread->node = nvmi_node_new(thread);
    if (on != thread->node)
      nvmi_node_depend(thread->node, on);
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
  if (!thread->node)
    return false;
  nvmi_order_lock();
  bool waits = nvmi_node_waits(thread->node);
  nvmi_order_unlock();
  return waits;
}

/* Who is told in time undoes first, and sees nothing change under its hands. */
static void await_dependents(const struct nvmi_node *node) {
  uint64_t deadline = nvmi_now_ns() + WAIT_NS;
  bool some = true;
  for (unsigned tries = 0; some && nvmi_now_ns() < deadline; tries++) {
    nvmi_order_lock();
    some = nvmi_node_has_dependents(node);
    nvmi_order_unlock();
    if (some)
      nvmi_pause(tries);
  }
}

uint64_t nvmi_order_close(struct nvmi_thread *thread, bool commit) {
  struct nvmi_node *node = thread->node;
  uint64_t pools = thread->touched;
  nvmi_order_lock();
  const struct nvmi_parcel *parcels = node->parcels.items;
  node->state = commit ? CLOSED : ABORTING;
  nvmi_tell_end();
  for (size_t i = 0; i < node->parcels.count; i++)
    pools |= UINT64_C(1) << parcels[i].pool->index;
  nvmi_order_unlock();
  if (!commit)
    await_dependents(node);
  return pools;
}

/* Those of its dependences that have not ended the thread's next transaction has, too. */
static void inherit(struct nvmi_thread *thread, const struct nvmi_node *node) {
  for (size_t i = 0; i < node->deps.count; i++) {
    struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
    if (on == node || on->state >= COMMITTED)
      continue;
    if (!thread->node)
      thread->node = nvmi_node_new(thread);
    nvmi_node_depend(thread->node, on);
  }
}

static bool depends_on_breaking(const struct nvmi_node *node) {
  for (size_t i = 0; i < node->deps.count; i++)
    if (nvmi_breaks_soon(nvmi_node_root(nvmi_node_deps(node)[i])))
      return true;
  return false;
}

/* What comes next must find the bytes that an abort takes back taken back, also those of a commit
 * that waits and has not yet seen that it is undone with it. No cycle: this one has ended. */
static void await_breaking(const struct nvmi_node *node) {
  for (unsigned tries = 0; depends_on_breaking(node); tries++) {
    nvmi_order_unlock();
    nvmi_pause(tries);
    nvmi_order_lock();
  }
}

/* A signal handler that posts during the wait makes the next transaction's node. */
void nvmi_order_ended(struct nvmi_thread *thread, bool committed) {
  nvmi_order_lock();
  struct nvmi_node *node = thread->node;
  node->state = committed ? COMMITTED : ABORTED;
  nvmi_tell_end();
  node->thread = NULL;
  purge_releases();
  thread->node = NULL;
  thread->stays_open = false;
  ending++;
  await_breaking(node);
  inherit(thread, node);
  /* Who follows an aborted one finds what that one still followed. */
  if (committed)
    nvmi_node_forget(node);
  else
    nvmi_node_forget_ended(node, true);
  nvmi_node_drop(node);
  ending--;
  nvmi_order_unlock();
}

/* What the thread has only read ends with it: others may wait for that (kept_blocks.h). */
void nvmi_order_leave(struct nvmi_thread *thread) {
  nvmi_order_lock();
  if (thread->node)
    end_reading(thread);
  thread->left = true;
  nvmi_order_unlock();
  nvmi_blocks_give_back(thread);
}
