/* waits.c: see waits.h.
 *
 * A commit waits for all that it depends on, and an acquisition for all that hold the lock; so any
 * path of waits that leads back to where it began is a cycle that nobody in it can leave. In such
 * a cycle all that is read stands still: one that waits in its commit changes no list; one that
 * wants a lock wants it until a holder, which is in the cycle, releases it. A path that was read
 * while one on it still ran may be none: a cycle over locks is looked at twice.
 */
#include "order/waits.h"

static unsigned search;        /* the number of the last one, from 1 on */
static struct nvmi_node *todo; /* found by it, and not yet looked at */

static void find(struct nvmi_node *node) {
  if (node->seen == search)
    return;
  node->seen = search;
  node->todo = todo;
  todo = node;
}

static struct nvmi_node *next(void) {
  struct nvmi_node *node = todo;
  if (node)
    todo = node->todo;
  return node;
}

static void begin(void) {
  search++;
  todo = NULL;
}

static bool holds(const struct nvmi_held *held, uintptr_t wanted) {
  unsigned count = nvmi_held_count(held);
  for (unsigned i = 0; i < count && i < NVMI_HELD_MAX; i++) {
    uintptr_t lock = nvmi_held_lock(held, i);
    if ((lock & ~(uintptr_t)1) == (wanted & ~(uintptr_t)1))
      return !(lock & wanted & 1); /* both shared: not in its way */
  }
  return false;
}

static bool find_if_in_the_way(struct nvmi_node *node, void *wanted) {
  if (node->thread && holds(node->thread->held, *(uintptr_t *)wanted))
    find(node);
  return false;
}

/* Whether waits lead from a node to the other: in commits, and with `locks` for locks, too. */
static bool leads(struct nvmi_node *from, const struct nvmi_node *to, bool locks) {
  begin();
  find(from);
  for (struct nvmi_node *node; (node = next());) {
    if (node == to)
      return true;
    for (size_t i = 0; node->waiting && i < node->deps.count; i++) {
      struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
      if (on->state < COMMITTED)
        find(on);
    }
    if (node->waiting || !locks || !node->thread)
      continue;
    uintptr_t wanted = atomic_load_explicit(&node->thread->held->wants, memory_order_relaxed);
    if (wanted)
      nvmi_node_find(find_if_in_the_way, &wanted);
  }
  return false;
}

bool nvmi_commits_wait(struct nvmi_node *on, const struct nvmi_node *node) {
  return leads(on, node, false);
}

bool nvmi_never_ends(struct nvmi_node *on, const struct nvmi_node *node) {
  return leads(on, node, true) && leads(on, node, true);
}

bool nvmi_node_follows(struct nvmi_node *node, const struct nvmi_node *on) {
  begin();
  for (find(node); (node = next());)
    for (size_t i = 0; i < node->deps.count; i++) {
      struct nvmi_node *before = nvmi_node_root(nvmi_node_deps(node)[i]);
      if (before == on)
        return true;
      find(before);
    }
  return false;
}

bool nvmi_breaks_soon(struct nvmi_node *node) {
  if (node->state >= ABORTING)
    return node->state == ABORTING;
  begin();
  for (find(node); (node = next());) {
    if (node->state >= ABORTING) /* behind one that waits: committed ones are not */
      return true;
    for (size_t i = 0; node->waiting && nvmi_node_writes(node) && i < node->deps.count; i++) {
      struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
      if (on->state != COMMITTED)
        find(on);
    }
  }
  return false;
}

/* A longer path than this is not told of. */
enum { DEPTH_MAX = 64 };

const struct nvmi_thread *nvmi_waited_for(struct nvmi_node *node) {
  for (unsigned depth = DEPTH_MAX; depth && node && node->waiting; depth--) {
    struct nvmi_node *next = NULL;
    for (size_t i = 0; i < node->deps.count && !next; i++) {
      struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
      next = on != node && on->state < COMMITTED ? on : NULL;
    }
    node = next;
  }
  return node ? node->thread : NULL;
}
