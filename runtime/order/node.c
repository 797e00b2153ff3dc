/* node.c: nodes lie in slabs, which are never given back: so all can be looked through, and one
 * without references is used again. */
#define _GNU_SOURCE
#include "order/node.h"

#include <sys/mman.h>

enum { NODES = 64 /* made at once */ };

static struct nvmi_node *free_nodes;
static struct nvmi_array slabs; /* struct nvmi_node *: NODES each */

void nvmi_order_push(struct nvmi_array *array, const void *item, size_t size) {
  if (!nvmi_array_push(array, item, size))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the order of transactions");
}

struct nvmi_node *nvmi_node_new(struct nvmi_thread *thread) {
  if (!free_nodes) {
    struct nvmi_node *fresh = mmap(NULL, NODES * sizeof *fresh, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
      nvmi_die(NULL, "out of memory for the order of transactions");
    nvmi_order_push(&slabs, &fresh, sizeof fresh);
    for (unsigned i = 0; i < NODES; i++) {
      fresh[i].into = free_nodes;
      free_nodes = &fresh[i];
    }
  }
  struct nvmi_node *node = free_nodes;
  free_nodes = node->into;
  node->state = OPEN;
  node->waiting = node->has_joined = node->unsafe = false;
  node->judged = 0;
  node->thread = thread;
  node->into = NULL;
  node->references = 1;
  return node;
}

void nvmi_node_forget(struct nvmi_node *node) {
  size_t count = node->deps.count;
  node->deps.count = 0;
  for (size_t i = 0; i < count; i++)
    nvmi_node_drop(nvmi_node_deps(node)[i]);
}

/* One that has ended keeps no dependence that has: no chain of nodes grows behind the threads. */
void nvmi_node_drop(struct nvmi_node *node) {
  while (node && --node->references == 0) {
    nvmi_node_forget(node);
    struct nvmi_node *into = node->into;
    node->into = free_nodes;
    free_nodes = node;
    node = into;
  }
}

void nvmi_node_forget_ended(struct nvmi_node *node, bool aborted_too) {
  struct nvmi_node **deps = nvmi_node_deps(node);
  size_t kept = 0;
  for (size_t i = 0; i < node->deps.count; i++) {
    enum nvmi_node_state state = nvmi_node_root(deps[i])->state;
    if (state == COMMITTED || (state == ABORTED && aborted_too))
      nvmi_node_drop(deps[i]);
    else
      deps[kept++] = deps[i];
  }
  node->deps.count = kept;
}

void nvmi_node_depend(struct nvmi_node *node, struct nvmi_node *on) {
  nvmi_node_forget_ended(node, false);
  for (size_t i = 0; i < node->deps.count; i++)
    if (nvmi_node_deps(node)[i] == on)
      return;
  on->references++;
  nvmi_order_push(&node->deps, &on, sizeof(struct nvmi_node *));
}

static bool depends_on(const struct nvmi_node *node, const struct nvmi_node *on) {
  for (size_t i = 0; i < node->deps.count; i++)
    if (nvmi_node_root(nvmi_node_deps(node)[i]) == on)
      return true;
  return false;
}

bool nvmi_node_find(bool (*visit)(struct nvmi_node *node, void *context), void *context) {
  for (size_t slab = 0; slab < slabs.count; slab++) {
    struct nvmi_node *each = ((struct nvmi_node **)slabs.items)[slab];
    for (unsigned i = 0; i < NODES; i++)
      if (each[i].references && visit(&each[i], context))
        return true;
  }
  return false;
}

static bool is_dependent(struct nvmi_node *node, void *on) {
  return node->state < COMMITTED && !node->into && depends_on(node, on);
}

bool nvmi_node_waits(const struct nvmi_node *node) {
  for (size_t i = 0; node && i < node->deps.count; i++) {
    const struct nvmi_node *on = nvmi_node_root(nvmi_node_deps(node)[i]);
    if (on != node && on->state < COMMITTED)
      return true;
  }
  return false;
}

bool nvmi_node_has_dependents(const struct nvmi_node *node) {
  return nvmi_node_find(is_dependent, (void *)node);
}

static bool forget(struct nvmi_node *node, void *unused) {
  (void)unused;
  node->deps.count = node->parcels.count = 0;
  node->references = 0;
  node->into = free_nodes;
  free_nodes = node;
  return false;
}

void nvmi_nodes_forget(void) { nvmi_node_find(forget, NULL); }

#ifndef NDEBUG
static struct nvmi_node *node_at(size_t i) {
  return ((struct nvmi_node **)slabs.items)[i / NODES] + i % NODES;
}

static void refer(struct nvmi_node *node) { node->known++; }

/* By its thread and by other nodes. */
static void count_known(void) {
  for (size_t i = 0; i < slabs.count * NODES; i++)
    node_at(i)->known = 0;
  for (size_t i = 0; i < slabs.count * NODES; i++) {
    struct nvmi_node *node = node_at(i);
    if (!node->references)
      continue;
    if (node->thread && node->thread->node == node)
      refer(node);
    if (node->into)
      refer(node->into);
    for (size_t n = 0; n < node->deps.count; n++)
      refer(nvmi_node_deps(node)[n]);
  }
}

static const char *free_fault(const struct nvmi_node *node) {
  return node->deps.count || node->parcels.count ? "a free node has nothing" : NULL;
}

static const char *node_fault(const struct nvmi_node *node) {
  if (node->into && (node->thread || node->deps.count))
    return "a joined node depends on nothing, and has no thread";
  if ((node->into || node->state >= COMMITTED) && node->parcels.count)
    return "a node that joined another or has ended has no parcels";
  if (!node->into && !node->thread && node->state < COMMITTED)
    return "a node without a thread has ended";
  if (node->thread && (node->state >= COMMITTED || node->thread->node != node))
    return "a thread's node is the one that has the thread, and has not ended";
  if (node->thread && node->waiting && node->state != OPEN)
    return "a thread waits in its commit while that is open";
  for (size_t i = 0; i < node->deps.count; i++)
    if (!nvmi_node_deps(node)[i]->references || nvmi_node_deps(node)[i] == node)
      return "a node depends on others that somebody refers to";
  return NULL;
}

const char *nvmi_nodes_fault(void (*list)(void (*)(struct nvmi_node *)), unsigned ending) {
  unsigned more = 0;
  const char *fault = NULL;
  count_known();
  list(refer);
  for (size_t i = 0; i < slabs.count * NODES && !fault; i++) {
    const struct nvmi_node *node = node_at(i);
    fault = node->references ? node_fault(node) : free_fault(node);
    if (!node->references)
      continue;
    if (node->references < node->known)
      return "a node counts all who refer to it";
    more += node->references - node->known;
  }
  return fault ? fault : more != ending ? "who counts as referring to a node does" : NULL;
}
#endif
