/* tx_order.h: the end of a transaction that has to do with others (order.h). */
#pragma once

#include "base/signal_frame.h"
#include "core/root_hooks.h"
#include "order/commit_wait.h"

/* The end of a transaction that others depend on, or that depends on others. */
enum nvm_error nvmi_tx_finish_in_order(struct nvmi_thread *thread, bool commit);
/* Commits what is open outside transactions, and counts it. */
enum nvm_error nvmi_tx_commit_implicit(struct nvmi_thread *thread);
/* Commits what is open outside transactions, and counts it, behind a wait (commit_wait.h); if that
 * ended otherwise than with a commit, the error that says so. Not after `later`. */
enum nvm_error nvmi_tx_finish_after(struct nvmi_thread *thread, enum nvmi_waited waited);
/* What could not be committed stays open in these pools (bits): lines and all. */
void nvmi_tx_stay_open(struct nvmi_thread *thread, uint64_t pools);

/* Ends the process: nobody is told of the failure by a result. `what` could not be committed, and why. */
void nvmi_tx_fatal(enum nvm_error error, const char *what);

/* Whether what the thread has open ends where it releases a lock: it lies outside transactions, and
 * no commit points tell where it should end. Who releases in its own commit is a handler. */
static inline bool nvmi_tx_ends_at_release(const struct nvmi_thread *thread) {
  return thread->touched && !nvmi_in_transaction(thread) && !thread->passes_points && !thread->ends;
}
/* Commits it, or undoes it, tells and lets the next beginning fail. tx_order.c says when neither. */
void nvmi_tx_end_at_release(struct nvmi_thread *thread, bool holds_others);

/* Roots that have changed become stores outside transactions: whoever ends those asks before. */
static inline void nvmi_tx_save_roots(const struct nvmi_thread *thread) {
  if (NVMI_UNLIKELY(thread->roots != NULL) && thread->roots->saves && !nvmi_in_transaction(thread))
    thread->roots->before_commit();
}
/* Before the outermost commit, while it can be aborted: with undo a store that finds no room may leave by a jump. */
void nvmi_tx_save_roots_inside(struct nvmi_thread *thread);
/* The end where a port's variables go with it (roots.h). */
enum nvm_error nvmi_tx_finish_with_roots(struct nvmi_thread *thread, bool commit);

/* A signal's handler that interrupted libnvmove may have left it by a jump: then what was under way is not, and
 * what handlers posted meanwhile is posted. Compiled code asks where it lands. */
void nvmi_tx_left(struct nvmi_thread *thread);
static inline void nvmi_tx_look_for_a_jump(struct nvmi_thread *thread) {
  if (NVMI_UNLIKELY(nvmi_is_inside(thread) | thread->posts_count) && !nvmi_in_signal_handler())
    nvmi_tx_left(thread);
}

/* In a child of fork, between two of the runtime's steps: what was open is the parent's. */
void nvmi_tx_inherit(struct nvmi_thread *thread);
/* nvm_tx_commit or nvm_tx_abort, which the thread itself has not begun: what they give. */
int nvmi_tx_end_unbegun(struct nvmi_thread *thread, const struct nvm_pool *pool, bool commit);
