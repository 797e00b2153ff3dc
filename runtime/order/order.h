/* order.h: which commit waits for which (docs/reference/semantics.md, "Locks released inside a
 * transaction").
 *
 * Node: an open transaction that released a lock, or that depends on one. Dependence: the thread
 * acquired a lock that the node's transaction released. Joined: of commits that wait for each
 * other, one that has become part of another's, which commits both at once (order_join.h).
 */
#pragma once

#include "core/thread.h"

/* Locks that open transactions released; 0: acquiring costs nothing. */
extern _Atomic unsigned nvmi_order_released;

/* The thread holds order.c's mutex, or is about to. What it calls may take locks (an allocator of
 * the program's), which guard nothing in a pool. */
extern _Thread_local volatile bool nvmi_in_order __attribute__((tls_model("initial-exec")));
/* A signal handler that came there, or where the thread is at work, posts a semaphore: that happens when the
 * thread has given the mutex back and rests. False: it need not wait, or cannot. */
bool nvmi_order_posts_later(void *semaphore);
/* Posts what waited, if the thread rests. Called where it begins to. */
void nvmi_order_post(struct nvmi_thread *thread);

/* A lock is its address, | 1: held for reading.
 * The calling thread is about to release a lock, with something open; has acquired one, while some
 * are in that list. `captures`: not in a signal handler, which may have come between a note and its
 * store: the lock guards nothing of what it interrupted. `is_last`: the thread holds no other.
 * Behind a release that captures, what running calls may write has to be noted anew (tx/called.h). */
void nvmi_order_release(uintptr_t lock, bool captures, bool is_last);
void nvmi_order_acquire(uintptr_t lock);

/* A transaction of a thread with a node begins; nothing of it is written yet. */
void nvmi_order_begin(struct nvmi_thread *thread);
/* Whether a commit of what it has open would wait at this moment. */
bool nvmi_order_waits(const struct nvmi_thread *thread);
/* No other joins any more. Without `commit` those that depend on it are told that they cannot
 * commit, and undo first if they are quick. Gives the pools (bits) of what is open and of what
 * joined it. */
uint64_t nvmi_order_close(struct nvmi_thread *thread, bool commit);
/* The transaction is over, those that wait may go on. */
void nvmi_order_ended(struct nvmi_thread *thread, bool committed);

/* The thread ends; nothing is open. What it locks from here on does not bring it back. */
void nvmi_order_leave(struct nvmi_thread *thread);

/* Around fork: the child finds the lists whole, and forgets them. */
void nvmi_order_lock(void);
bool nvmi_order_try_lock(void); /* true: it is locked */
void nvmi_order_unlock(void);
void nvmi_order_forget(void);
