/* waits.h: who waits for whom, of the threads whose transactions depend on each other (order.h).
 *
 * A thread waits for others in two ways that are seen: in its commit, for the nodes that it
 * depends on; in the acquisition of a lock, for whoever holds that. Held: a lock that the thread
 * has acquired and not released; mutexes, read-write and spin locks, no semaphores, which anybody
 * posts. All of it under order.c's mutex, but for a thread's own list.
 */
#pragma once

#include "order/node.h"

#include "core/held.h"

/* `on` waits in its commit, and by such waits alone, in the end, for `node`. */
bool nvmi_commits_wait(struct nvmi_node *on, const struct nvmi_node *node);
/* `on` does not end before `node` has: by waits in commits and for locks. */
bool nvmi_never_ends(struct nvmi_node *on, const struct nvmi_node *node);
/* Whether it depends on that one, or on one that does, and so on. */
bool nvmi_node_follows(struct nvmi_node *node, const struct nvmi_node *on);
/* It is being undone, or waits in its commit and is going to be, without anything that a thread
 * that runs does: it has written, and by such waits it depends on one that is undone. */
bool nvmi_breaks_soon(struct nvmi_node *node);
/* One that runs, and for which the commit of `node` waits; null: none is known. */
const struct nvmi_thread *nvmi_waited_for(struct nvmi_node *node);
