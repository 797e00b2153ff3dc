/* tx.h: the parts in which a transaction's end is written down (tx.c, tx_order.c). */
#pragma once

#include "order/order.h"

/* tx.c: commits or aborts what a thread has open, in all pools. */
enum nvm_error nvmi_tx_finish(struct nvmi_thread *thread, bool commit);
/* tx.c: the same for what lies outside transactions: before a new one starts. */
enum nvm_error nvmi_tx_finish_implicit(struct nvmi_thread *thread);
/* Whether what the thread has open ends where it releases a lock: it lies outside transactions, and
 * no commit points tell where it should end. Who releases in its own commit is a handler. */
static inline bool nvmi_tx_ends_at_release(const struct nvmi_thread *thread) {
  return thread->touched && !nvmi_in_transaction(thread) && !thread->passes_points && !thread->ends;
}
/* tx_order.c: commits it, or undoes it, tells and lets the next beginning fail. Says when neither. */
void nvmi_tx_end_at_release(struct nvmi_thread *thread, bool holds_others);
/* tx.c: ends what is open; nobody else has to do with it, or all who have stand still. A commit
 * that fails is undone, but for one with a ticket: that stays open. */
enum nvm_error nvmi_tx_finish_alone(struct nvmi_thread *thread, bool commit);
#ifndef NDEBUG
/* tx_fault.c: what does not hold of a thread whose transaction in these pools (bits) has ended, and
 * of its logs; null: all does. */
const char *nvmi_tx_fault(const struct nvmi_thread *thread, uint64_t pools);
#endif
/* tx_order.c: in a child of fork, between two of the runtime's steps: what was open is the parent's.
 */
void nvmi_tx_inherit(struct nvmi_thread *thread);
/* tx_order.c: nvm_tx_commit or nvm_tx_abort, which the thread itself has not begun: what they give.
 */
int nvmi_tx_end_unbegun(struct nvmi_thread *thread, const struct nvm_pool *pool, bool commit);
/* tx.c: commits what is open outside transactions, and counts it. */
enum nvm_error nvmi_tx_commit_implicit(struct nvmi_thread *thread);
/* tx_order.c: the end of a transaction that others depend on, or that depends on others. */
enum nvm_error nvmi_tx_finish_in_order(struct nvmi_thread *thread, bool commit);
/* tx_order.c: commits what is open outside transactions, and counts it, behind a wait for its turn;
 * if that ended otherwise than with a commit, the error that says so. Not after `later`. */
enum nvm_error nvmi_tx_finish_after(struct nvmi_thread *thread, enum nvmi_turn turn);
/* tx_order.c: what could not be committed stays open in these pools (bits): lines and all. */
void nvmi_tx_stay_open(struct nvmi_thread *thread, uint64_t pools);
/* tx_order.c: the end where a port's variables go with it (roots.h). */
enum nvm_error nvmi_tx_finish_with_roots(struct nvmi_thread *thread, bool commit);
