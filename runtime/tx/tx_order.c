/* tx_order.c: the end of a transaction that has to do with others (order.h).
 *
 * A commit waits for those that it depends on, takes in what joined it, and goes on as any other.
 * One that may not commit, or cannot, is undone while the others stand still (undoing.h).
 */
#include "tx/tx_order.h"

#include "base/signals.h"
#include "core/gate.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/map.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "order/commit_wait.h"
#include "order/kept_blocks.h"
#include "order/node.h"
#include "order/order.h"
#include "order/order_join.h"
#include "order/undoing.h"
#include "tx/called.h"
#include "tx/landed.h"
#include "tx/tx.h"

/* An unsafe pointer was found, which another may have stored there; or one was there at a release,
 * and another may have stored over it. */
static enum nvm_error commit_own_pointers(struct nvmi_thread *thread) {
  nvmi_undoing_stop(thread, thread->touched);
  enum nvm_error error = nvmi_tx_finish_alone(thread, true, true);
  nvmi_undoing_end(thread);
  return error;
}

/* Whether what signal handlers store to roots would be a part of the end, or not, by chance. */
static inline bool saves_roots(const struct nvmi_thread *thread) {
  return NVMI_UNLIKELY(thread->roots != NULL) && thread->roots->saves;
}

/* Behind the gate: no other is being undone while this one commits. */
static enum nvm_error commit_joined(struct nvmi_thread *thread, uint64_t pools) {
  thread->busy++;
  nvmi_compiler_barrier();
  nvmi_gate_enter_touched(thread, pools);
  nvmi_join_unpack(thread);
  enum nvm_error error = NVM_EUNSAFE;
  if (!thread->node->unsafe) {
    thread->looks_again = true;
    error = nvmi_tx_finish_alone(thread, true, true);
    thread->looks_again = false;
  }
  nvmi_compiler_barrier();
  thread->busy--;
  nvmi_order_post(thread);
  return error == NVM_EUNSAFE ? commit_own_pointers(thread) : error;
}

/* What joined it was judged, and may have stored over what is judged here. Roots have changed during the wait. */
static enum nvm_error commit_in_order(struct nvmi_thread *thread) {
  sigset_t before;
  uint64_t pools = nvmi_order_close(thread, true);
  if (thread->node->parcels.count && !nvmi_join_is_safe(thread))
    return NVM_EUNSAFE;
  bool saves = saves_roots(thread);
  if (saves) {
    before = nvmi_signals_hold();
    thread->roots->before_commit();
  }
  enum nvm_error error = commit_joined(thread, pools);
  if (saves)
    nvmi_signals_release(&before);
  return error;
}

static void undo_in_order(struct nvmi_thread *thread) {
  sigset_t before;
  bool saves = saves_roots(thread);
  if (saves)
    before = nvmi_signals_hold();
  uint64_t pools = nvmi_order_close(thread, false);
  nvmi_undoing_begin(thread, pools);
  nvmi_tx_finish_alone(thread, false, true);
  nvmi_undoing_end(thread);
  if (saves) {
    thread->roots->after_abort();
    nvmi_signals_release(&before);
  }
}

static const enum nvm_error wait_errors[] = {[NVMI_WAITED_BROKEN] = NVM_EBROKEN,
                                             [NVMI_WAITED_STUCK] = NVM_EDEADLOCK,
                                             [NVMI_WAITED_UNSAFE] = NVM_EUNSAFE};

static enum nvm_error finish_in_order(struct nvmi_thread *thread, bool commit) {
  enum nvm_error error = commit ? wait_errors[nvmi_commit_wait(thread)] : NVM_OK;
  bool committed = commit && !error && !(error = commit_in_order(thread));
  if (!committed && error != NVM_ECHILD)
    undo_in_order(thread);
  nvmi_order_ended(thread, committed);
  nvmi_blocks_give_back(thread);
  return error;
}

/* A transaction that others depend on, or that depends on others. */
enum nvm_error nvmi_tx_finish_in_order(struct nvmi_thread *thread, bool commit) {
  thread->ends = true;
  nvmi_compiler_barrier();
  enum nvm_error error =
      thread->node ? finish_in_order(thread, commit) : nvmi_tx_finish_alone(thread, commit, false);
  nvmi_compiler_barrier();
  thread->ends = false;
  nvmi_note_called(thread); /* not before: the gate is open again, the node the next one's */
  return error;
}

enum nvm_error nvmi_tx_commit_implicit(struct nvmi_thread *thread) {
  nvmi_uses_open(thread);
  for (uint64_t left = thread->touched; left; left &= left - 1)
    thread->logs[__builtin_ctzll(left)]->stats.implicit_commits++;
  enum nvm_error error = nvmi_tx_finish(thread, true);
  nvmi_used_open(thread);
  return error;
}

/* What has joined another's commit in its wait is not this thread's any more: if it was undone only
 * the wait says so. */
enum nvm_error nvmi_tx_finish_after(struct nvmi_thread *thread, enum nvmi_waited waited) {
  if (!thread->touched && waited == NVMI_WAITED_BROKEN && saves_roots(thread))
    thread->roots->after_abort();
  enum nvm_error error = thread->touched ? nvmi_tx_commit_implicit(thread) : NVM_OK;
  return error ? error : wait_errors[waited];
}

/* While it holds a lock it goes on and releases that one, too: it may correct a pointer until then,
 * and a cycle may open. A thread that holds none may idle from here on, and whoever takes one of
 * its locks would wait for ever. */
static enum nvm_error end_at_release(struct nvmi_thread *thread, bool holds_others) {
  bool is_safe = nvmi_join_is_safe(thread);
  enum nvmi_waited waited = is_safe && thread->node ? nvmi_commit_wait(thread) : NVMI_WAITED_COMMIT;
  if (holds_others && (!is_safe || waited == NVMI_WAITED_STUCK))
    return NVM_OK;
  if (thread->touched)
    nvmi_trace_alone(NVM_TRACE_POINT, 2);
  /* Its commit finds again that it is stuck, or that it no longer is. */
  return nvmi_tx_finish_after(thread, waited == NVMI_WAITED_STUCK ? NVMI_WAITED_COMMIT : waited);
}

void nvmi_tx_end_at_release(struct nvmi_thread *thread, bool holds_others) {
  if (NVMI_UNLIKELY(thread->roots != NULL) && nvmi_root_hooks->has_ended(thread))
    return; /* it stays open */
  nvmi_uses_open(thread);
  enum nvm_error error = end_at_release(thread, holds_others);
  nvmi_used_open(thread);
  if (!error || error == NVM_ECHILD)
    return;
  thread->has_lost = true;
  nvmi_tell(
      "nvmove: what thread %d stored outside transactions before it released a lock was undone "
      "(docs/reference/semantics.md, promise 9): %s\n",
      thread->id, error == NVM_EUNSAFE ? nvm_strerror() : nvm_error_name(error));
}

void nvmi_tx_fatal(enum nvm_error error, const char *what) {
  char message[160];
  snprintf(message, sizeof message, "%s could not be committed (%s)", what, nvm_error_name(error));
  nvmi_fatal(error, NULL, error == NVM_EUNSAFE ? nvm_strerror() : message);
}

void nvmi_tx_left(struct nvmi_thread *thread) {
  uintptr_t stack =
      nvmi_is_inside(thread) ? thread->jumped_to : 0; /* else the handler has returned */
  thread->jumped_to = 0;
  if (nvmi_is_inside(thread))
    nvmi_thread_left(thread);
  if (thread->posts_count)
    nvmi_order_post(thread);
  if (stack)
    nvmi_tx_left_below(thread, stack, thread->jumped_from);
}

/* Its own pools' transactions are not within the inherited one, which only its matching ends end. */
void nvmi_tx_inherit(struct nvmi_thread *thread) {
  nvmi_lines_collect_all(thread);
  thread->lines.count = 0;
  thread->touched = 0;
  thread->fresh_count = thread->ahead_count = 0;
  thread->table->ahead = 0;
  thread->fresh_stores = thread->doomed = thread->has_lost = false;
  thread->frames.count = 0;
  thread->inherited += thread->begun;
  thread->begun = 0;
}

int nvmi_tx_end_unbegun(struct nvmi_thread *thread, const struct nvm_pool *pool, bool commit) {
  const char *end = commit ? "commit" : "abort";
  if (!pool->forked || !thread->inherited)
    return nvmi_fail(NVM_ENOTX, pool->path,
                     "%s without begin; call nvm_tx_begin first, once for each %s", end, end);
  thread->inherited--;
  return commit ? nvmi_fail(NVM_ECHILD, pool->path,
                            "a forked child cannot commit; its copy stays its own")
                : 0;
}

void nvmi_tx_stay_open(struct nvmi_thread *thread, uint64_t pools) {
  struct nvmi_line *lines = thread->lines.items;
  size_t kept = 0;
  for (size_t i = 0; i < thread->lines.count; i++)
    if (pools >> nvmi_pool_at((void *)(nvmi_line_first(&lines[i]) << 6))->index & 1)
      lines[kept++] = lines[i];
  thread->lines.count = kept;
  nvmi_touch(thread, pools);
}

void nvmi_tx_save_roots_inside(struct nvmi_thread *thread) {
  if (thread->roots->saves && thread->begun + thread->frames.count == 1 && !thread->doomed)
    thread->roots->before_commit();
}

enum nvm_error nvmi_tx_finish_with_roots(struct nvmi_thread *thread, bool commit) {
  const struct nvmi_root_events *roots = thread->roots;
  sigset_t before;
  if (NVMI_UNLIKELY(commit && nvmi_port_unloaded))
    nvmi_port_unloaded(); /* stops a program that goes on behind `end` */
  if (thread->node) {     /* what waits for others may join another's commit there */
    if (commit)
      roots->before_commit();
    return nvmi_tx_finish_in_order(thread, commit);
  }
  bool saves = saves_roots(thread);
  if (saves)
    before = nvmi_signals_hold();
  if (commit)
    roots->before_commit();
  enum nvm_error error = nvmi_tx_finish_alone(thread, commit, false);
  if (!commit || (error && error != NVM_ECHILD))
    roots->after_abort();
  if (saves)
    nvmi_signals_release(&before);
  return error;
}
