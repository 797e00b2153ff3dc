/* order.h: which commit waits for which (docs/reference/semantics.md, "Locks released inside a
 * transaction").
 *
 * Ticket: an open transaction that released a lock, or that depends on one. Dependence: the thread
 * acquired a lock that the ticket's transaction released. Joined: of commits that wait for each
 * other, one that has become part of another's, which commits both at once. Parcel: what a joined
 * transaction did in one pool. Turn: what a commit may do now.
 */
#pragma once

#include "core/thread.h"

struct nvmi_parcel {
  struct nvm_pool *pool;
  struct nvmi_log *log;      /* left with its undo entries, or null */
  struct nvmi_array sealed;  /* struct nvmi_sealed */
  struct nvmi_array intents; /* struct nvmi_intent */
  uint64_t number;           /* in a trace */
};

/* Owns the logs in parcels. */
extern struct nvmi_thread nvmi_nobody;

/* Locks that open transactions released; 0: acquiring costs nothing. */
extern _Atomic unsigned nvmi_order_released;

/* The thread holds order.c's mutex, or is about to. What it calls may take locks (an allocator of
 * the program's), which guard nothing in a pool. */
extern _Thread_local volatile bool nvmi_in_order __attribute__((tls_model("initial-exec")));
/* A signal handler that came there posts a semaphore: that happens when the thread has given the
 * mutex back. False: it may not wait. */
bool nvmi_order_posts_later(void *semaphore);

/* A lock is its address, | 1: held for reading.
 * The calling thread is about to release a lock, with something open; has acquired one, while some
 * are in that list. `seals`: not in a signal handler, which may have come between a note and its
 * store: the lock guards nothing of what it interrupted. `is_last`: the thread holds no other. */
void nvmi_order_release(uintptr_t lock, bool seals, bool is_last);
void nvmi_order_acquire(uintptr_t lock);

/* A transaction of a thread with a ticket begins; nothing of it is written yet. */
void nvmi_order_begin(struct nvmi_thread *thread);
enum nvmi_turn {
  NVMI_TURN_COMMIT,
  NVMI_TURN_BROKEN,
  NVMI_TURN_STUCK,
  NVMI_TURN_UNSAFE,
  NVMI_TURN_LATER
};
/* Waits for the transactions that this one depends on. Commit: they have ended, or nothing was
 * written; what was open may have been committed with one of them. Broken: one of them was aborted.
 * Stuck: one waits for a lock that is held until this one has ended. Unsafe: it would have joined
 * another, and holds an unsafe pointer, which the failure names. Later, of a wait that is
 * bounded: they have not. */
enum nvmi_turn nvmi_order_turn(struct nvmi_thread *thread);
enum nvmi_turn nvmi_order_turn_soon(struct nvmi_thread *thread);
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

/* order_join.c: the thread's open transaction as parcels, and back. Safe: with the pointers that
 * whoever unpacks it does not check. */
bool nvmi_join_is_safe(struct nvmi_thread *thread);
/* Pools (bits) in which a released word may be stored to by others before the commit judges it; what
 * the thread's ticket says of the pointers in them, before it releases a lock. */
uint64_t nvmi_join_unsealed(const struct nvmi_thread *thread);
void nvmi_join_judge(struct nvmi_thread *thread, uint64_t pools);
void nvmi_join_pack(struct nvmi_thread *thread, struct nvmi_array *parcels);
void nvmi_join_unpack(struct nvmi_thread *thread);
/* Takes the bytes that are noted as they are now; under order.c's mutex. */
void nvmi_join_seal(struct nvmi_thread *thread);

/* Around fork: the child finds the lists whole, and forgets them. */
void nvmi_order_lock(void);
bool nvmi_order_try_lock(void); /* true: it is locked */
void nvmi_order_unlock(void);
void nvmi_order_forget(void);
