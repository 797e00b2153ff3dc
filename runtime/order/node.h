/* node.h: nodes (order.h) and what they depend on. All of it under order.c's mutex. */
#pragma once

#include "core/thread.h"

/* Closed: nobody may join any more. Aborting: those that depend on it are to be undone first. */
enum nvmi_node_state { OPEN, CLOSED, ABORTING, COMMITTED, ABORTED };

struct nvmi_node {
  enum nvmi_node_state state;
  bool waiting;               /* its thread is in nvmi_commit_wait, and does nothing else */
  bool has_joined;            /* it waits for the one that it joined: nobody joins it */
  bool unsafe;                /* an unsafe pointer was there, or may have been, at a release */
  size_t judged;              /* lines of its thread that were looked at for that (order_join.c) */
  unsigned seen;              /* by the search of this number (waits.c) */
  struct nvmi_node *todo;     /* the next that it has found */
  unsigned references;        /* of threads, the list of locks, other nodes */
  struct nvmi_node *into;     /* joined that one; next free node */
  struct nvmi_thread *thread; /* whose open transaction it is; null: ended, or joined another */
  struct nvmi_array deps;     /* struct nvmi_node * */
  struct nvmi_array parcels;
#ifndef NDEBUG
  unsigned known; /* references that nvmi_nodes_fault has found */
#endif
};

static inline struct nvmi_node **nvmi_node_deps(const struct nvmi_node *node) {
  return node->deps.items;
}

/* The node that decides about this one. */
static inline struct nvmi_node *nvmi_node_root(struct nvmi_node *node) {
  while (node->into)
    node = node->into;
  return node;
}

static inline bool nvmi_node_ended(struct nvmi_node *node) {
  return nvmi_node_root(node)->state >= COMMITTED;
}

/* Whether its transaction has written, or has what joined it: a reader loses nothing by an abort.
 */
static inline bool nvmi_node_writes(const struct nvmi_node *node) {
  return node->thread && (node->thread->touched || node->parcels.count);
}

/* Open, with one reference, the thread's. Ends the process without memory. */
struct nvmi_node *nvmi_node_new(struct nvmi_thread *thread);
/* Gives a reference back. */
void nvmi_node_drop(struct nvmi_node *node);
/* Depends on nothing any more. */
void nvmi_node_forget(struct nvmi_node *node);
/* Once, however often it is said. */
void nvmi_node_depend(struct nvmi_node *node, struct nvmi_node *on);
/* A thread that only reads never ends its transaction: what it depended on must not pile up. */
void nvmi_node_forget_ended(struct nvmi_node *node, bool aborted_too);
/* Whether its commit would wait at this moment; null: no. */
bool nvmi_node_waits(const struct nvmi_node *node);
/* Whether one that has not ended depends on it. */
bool nvmi_node_has_dependents(const struct nvmi_node *node);
/* Calls `visit` for each node that somebody refers to, until one says true. */
bool nvmi_node_find(bool (*visit)(struct nvmi_node *node, void *context), void *context);
/* A child of fork: nobody refers to any. */
void nvmi_nodes_forget(void);
#ifndef NDEBUG
/* What does not hold of all nodes; null: all does (base/invariant.h). `list` calls its argument for each reference
 * from elsewhere than threads and nodes; `ending`: threads that hold one which they have ended. */
const char *nvmi_nodes_fault(void (*list)(void (*refer)(struct nvmi_node *)), unsigned ending);
#endif
/* As nvmi_array_push, and ends the process without memory. */
void nvmi_order_push(struct nvmi_array *array, const void *item, size_t size);
