/* standstill.h: all other threads stand still: none begins to note or to end a transaction.
 *
 * The process has one standstill at a time: who makes it holds NVMI_LOCK_QUIESCE.
 */
#pragma once

#include "core/thread.h"

/* Stops all others in all pools. None is in the middle of its work in one of `pools` (bits), in which
 * the caller has something open, so that they are not closed. The caller goes on; its signals wait.
 * Not within a section that is at work. */
void nvmi_stop_others(struct nvmi_thread *thread, uint64_t pools);
void nvmi_let_others(struct nvmi_thread *thread);
/* In a child of fork: its parent's other threads are not there. */
void nvmi_standstill_forget(void);

/* Whether another thread has a log of the pool; whether one is at work. Under the pool's lock. */
bool nvmi_has_others(const struct nvm_pool *pool);
bool nvmi_others_work(const struct nvm_pool *pool);

/* What other threads with a log of a pool have open there. Each number is a thread's id, 0: none. */
struct nvmi_others {
  int stored;    /* to the pool, and has not committed */
  int begun;     /* a transaction, in whatever pools */
  int ends;      /* is in the middle of ending something, maybe of this pool */
  bool joined;   /* what one has stored to the pool is on its way to another's commit */
  bool in_begun; /* `stored` has, in a transaction */
  bool leaves;   /* `stored` is a thread that ends */
};
/* In a standstill; the caller then does `last`, if nobody has anything open and it is not null. Without the lock of
 * the pool, which is taken. Not within a section that is at work. */
void nvmi_others_look(struct nvm_pool *pool, struct nvmi_others *others,
                      void (*last)(struct nvm_pool *pool));
/* Whether another thread has a transaction open, or something open in the pool outside of one, or on its way to
 * another's commit. One that is just ending it is waited for, a while. Not within a section that is at work. */
bool nvmi_others_have_open(struct nvm_pool *pool);
