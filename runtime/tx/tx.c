/* tx.c: where transactions begin and end.
 *
 * A transaction belongs to a thread. It is open while nvm_tx_begin calls are unmatched or atomic
 * calls are running; stores outside belong to an implicit one that the next beginning, commit
 * point, close or the thread's end commits. The end is the same for all methods: collect the lines,
 * hand them over.
 */

#include "tx/tx.h"
#include "base/invariant.h"
#include "base/signal_frame.h"
#include "base/signals.h"
#include "core/barrier.h"
#include "core/follower.h"
#include "core/gate.h"
#include "core/lines.h"
#include "core/root_hooks.h"
#include "core/tracing.h"
#include "core/watch.h"
#include "heap/heap.h"
#include "judge/pointers.h"
#include "judge/pointers_safe.h"
#include "log/log.h"
#include "order/order.h"
#include "tx/called.h"
#include "tx/quiesce.h"
#include "tx/tx_fault.h"
#include "tx/tx_order.h"
#include "tx/wrap.h"
#include "types/compare.h"
#include "types/types.h"

/* The end of a transaction in one pool. Crash before step 6 has made the record durable: recovery undoes
 * the transaction (undo), or finds nothing of it in the file (shadow). Crash after: it has happened. */
static inline __attribute__((always_inline)) enum nvm_error
end_in_pool(struct nvmi_log *log, const struct nvmi_line *lines, size_t count, bool commit,
            const struct nvmi_follower *follower) {
  struct nvm_pool *pool = log->pool;
  enum nvm_error error = pool->forked ? NVM_ECHILD : NVM_OK;
  /* 1. Frees that waited for others' commits are decided: in DRAM. */
  nvmi_frees_end(log, commit && !error);
  /* 2. shadow: what others have committed to the same lines comes to the view: in DRAM. */
  if (pool->method->private_work)
    nvmi_lines_fetch_home(pool, lines, count);
  /* 3. Pointers are judged: only read. An unsafe one fails the commit. */
  if (commit && !error && pool->check_pointers)
    error = nvmi_check_pointers(log, lines, count);
  /* 4. Changes of reference counts are made durable in a log of their own; they hold with step 6. */
  if (follower && commit && !error)
    error = follower->before_commit(log, lines, count);
  if (NVMI_UNLIKELY(nvmi_tracing)) {
    nvmi_trace_compare(pool);
    if (commit && !error)
      nvmi_trace(pool, NVM_TRACE_COMMITTING, 0, 0);
  }
  /* 5. Allocations and frees become operations of the record: in DRAM. */
  if (commit && !error && !nvmi_heap_prepare(log))
    error = NVM_ENOMEMORY;
  /* 6. The record becomes durable, then what it says is stored in place. */
  if (commit && !error)
    error = pool->method->commit(log, lines, count);
  /* 7. The log of step 4 learns of it; of a failure it is made void, before the abort ends. */
  if (follower)
    follower->ended(log, !error);
  if (NVMI_LIKELY(commit && !error)) {
    log->stats.commits++;
    if (NVMI_UNLIKELY(log->covered.count))
      log->covered.count = 0;
    nvmi_trace(pool, NVM_TRACE_COMMIT, 0, 0);
    nvmi_heap_committed(log);
    return NVM_OK;
  }
  if (NVMI_UNLIKELY(commit && error != NVM_ECHILD))
    return error; /* undone when signals wait, and others that depend on it stand still */
  if (error != NVM_ECHILD)
    pool->method->abort(log, lines, count);
  if (NVMI_UNLIKELY(nvmi_tracing)) {
    nvmi_trace_compare(pool);
    nvmi_trace(pool, NVM_TRACE_ABORT, 0, 0);
  }
  log->stats.aborts++;
  nvmi_heap_aborted(log);
  return error;
}

static __attribute__((noinline)) enum nvm_error
finish_followed(struct nvmi_log *log, const struct nvmi_line *lines, size_t count, bool commit) {
  return end_in_pool(log, lines, count, commit, log->pool->follower);
}

static inline __attribute__((always_inline)) enum nvm_error
finish_pool(struct nvmi_log *log, const struct nvmi_line *lines, size_t count, bool commit) {
  if (NVMI_UNLIKELY(log->pool->follower != NULL))
    return finish_followed(log, lines, count, commit);
  return end_in_pool(log, lines, count, commit, NULL);
}

/* Without what was stored to local blocks, but where views are compared with the file. */
static __attribute__((noinline)) void collect_without_locals(struct nvmi_thread *thread,
                                                             struct nvmi_log *log) {
  if (!nvmi_view_is_compared(log->pool))
    nvmi_heap_forget_locals(log);
  nvmi_lines_collect(thread, 0);
}

/* With several pools, or with the first `nested` lines of signal handlers. `failed`: pools (bits) where it did. */
static __attribute__((noinline)) enum nvm_error finish_each(struct nvmi_thread *thread,
                                                            uint64_t touched, size_t nested,
                                                            bool commit, uint64_t *failed) {
  enum nvm_error result = NVM_OK;
  nvmi_lines_collect(thread, nested);
  size_t all = thread->lines.count;
  bool several = touched & (touched - 1);
  if (several && commit)
    result = nvmi_pointers_check_all(thread, touched, all);
  if (result) { /* undone later, as in end_in_pool */
    *failed = touched;
    touched = 0;
  }
  for (; touched; touched &= touched - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(touched)];
    const struct nvmi_line *lines = thread->lines.items;
    size_t count = all;
    if (several)
      lines = nvmi_lines_of(thread, log->pool, 0, all, &count);
    enum nvm_error error = finish_pool(log, lines, count, commit);
    result = result ? result : error;
    *failed |= error ? touched & -touched : 0;
  }
  if (nested)
    nvmi_lines_drop_nested(thread, nested);
  return result;
}

static enum nvm_error finish_masked(struct nvmi_thread *thread, bool commit, bool in_order);

static inline void leave_finish(struct nvmi_thread *thread) {
  nvmi_says_it_rests(thread);
  nvmi_compiler_barrier();
  thread->busy--;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(thread->posts_count))
    nvmi_order_post(thread);
}

/* Handlers have stored, or posted: the pools are given back, and all begins anew. */
static __attribute__((noinline)) enum nvm_error
finish_again(struct nvmi_thread *thread, uint64_t touched, bool commit, bool in_order) {
  nvmi_touch(thread, touched);
  leave_finish(thread);
  return finish_masked(thread, commit, in_order);
}

/* What handlers stored to several pools meanwhile may be in some that have ended and in some that have not:
 * the next transaction must not be able to undo a part. */
static __attribute__((noinline)) void finish_handlers(struct nvmi_thread *thread, uint64_t pools,
                                                      bool commit, bool in_order) {
  if (pools & (pools - 1) && finish_masked(thread, commit, in_order))
    thread->has_lost = true; /* the next beginning tells */
}

/* What signal handlers may change is read at work only. From then on they touch a pool, then add lines to
 * `nested`, and do nothing else. Lines that are there when the pools have been taken are found. Lines that
 * come later belong to the next transaction, or end at once (finish_handlers).
 * `masked`: signals wait. `in_order`: the thread's node is being ended. */
static inline __attribute__((always_inline)) enum nvm_error
finish(struct nvmi_thread *thread, bool commit, bool masked, bool in_order) {
  uint64_t failed = 0;
  enum nvm_error error;
  bool asked;
  if (!thread->touched)
    return NVM_OK;
  thread->busy++;
  nvmi_compiler_barrier();
  uint64_t touched = thread->touched;
  struct nvmi_log *log = thread->logs[__builtin_ctzll(touched)];
  if (NVMI_UNLIKELY(log->pool->gate || touched & (touched - 1) || nvmi_all_stand()))
    touched = nvmi_gate_enter_touched(thread, 0);
  nvmi_untouch(thread, touched);
  nvmi_compiler_barrier();
  size_t nested = thread->nested.count;
  if (!masked && NVMI_UNLIKELY(nested || (!in_order && thread->node)))
    return finish_again(thread, touched, commit, in_order);
  if (NVMI_LIKELY(!(touched & (touched - 1)) && !nested)) {
    if (NVMI_UNLIKELY(log->intents.locals))
      collect_without_locals(thread, log);
    else
      nvmi_lines_collect(thread, 0);
    error = finish_pool(log, thread->lines.items, thread->lines.count, commit);
    failed = error ? touched : 0;
    asked = error != NVM_ECHILD && nvmi_backup_asked(log->pool);
  } else {
    error = finish_each(thread, touched, nested, commit, &failed);
    asked = true; /* each is looked at */
  }
  bool stays = failed && commit && error != NVM_ECHILD;
  if (NVMI_UNLIKELY(stays)) {
    nvmi_tx_stay_open(thread, failed); /* its stores to new blocks have no entries then, either */
  } else {
    thread->lines.count = 0;
    thread->fresh_stores = false;
  }
  if (NVMI_UNLIKELY(thread->fresh_count || thread->ahead_count)) {
    thread->fresh_count = 0;
    thread->ahead_count = 0; /* left behind by a longjmp out of a signal handler */
    thread->table->ahead = 0;
  }
  NVMI_HOLDS(stays || error == NVM_ECHILD ? NULL : nvmi_tx_fault(thread, touched));
  leave_finish(thread);
  if (NVMI_UNLIKELY(stays && !in_order)) /* else tx_order.c does it */
    finish_masked(thread, false, false);
  if (NVMI_UNLIKELY(asked))
    nvmi_backup_answer(thread, touched);
  if (NVMI_UNLIKELY(thread->table->called))
    nvmi_note_called(thread);
  if (NVMI_UNLIKELY(thread->nested.count) && !masked && !stays)
    finish_handlers(thread, touched | thread->touched, commit, in_order);
  return error;
}

/* Where handlers are known to store, they wait: all that one stores belongs to one transaction. They wait where
 * bytes are undone: what one stored meanwhile would be undone in part. */
static __attribute__((noinline)) enum nvm_error finish_masked(struct nvmi_thread *thread,
                                                              bool commit, bool in_order) {
  sigset_t before = nvmi_signals_hold();
  bool posted = !in_order && thread->node; /* by a handler, a moment ago */
  enum nvm_error error = posted ? NVM_OK : finish(thread, commit, true, in_order);
  nvmi_signals_release(&before);
  return NVMI_UNLIKELY(posted) ? nvmi_tx_finish_in_order(thread, commit) : error;
}

enum nvm_error nvmi_tx_finish_alone(struct nvmi_thread *thread, bool commit, bool in_order) {
  return NVMI_UNLIKELY(thread->handlers_store || !commit) ? finish_masked(thread, commit, in_order)
                                                          : finish(thread, commit, false, in_order);
}

static inline __attribute__((always_inline)) enum nvm_error
finish_outermost(struct nvmi_thread *thread, bool commit) {
  if (NVMI_UNLIKELY(commit && thread->aliases))
    nvmi_wrap_before_commit(thread);
  if (NVMI_UNLIKELY(thread->roots != NULL))
    return nvmi_tx_finish_with_roots(thread, commit);
  if (NVMI_UNLIKELY(thread->node))
    return nvmi_tx_finish_in_order(thread, commit);
  if (NVMI_UNLIKELY(thread->handlers_store || !commit))
    return finish_masked(thread, commit, false);
  return finish(thread, commit, false, false);
}

enum nvm_error nvmi_tx_finish(struct nvmi_thread *thread, bool commit) {
  return finish_outermost(thread, commit);
}

enum nvm_error nvmi_tx_finish_implicit(struct nvmi_thread *thread) {
  if (nvmi_in_transaction(thread))
    return NVM_OK;
  nvmi_tx_save_roots(thread);
  enum nvm_error error = thread->touched ? nvmi_tx_commit_implicit(thread) : NVM_OK;
  if (NVMI_UNLIKELY(thread->has_lost) && !error)
    error = NVM_EBROKEN;
  thread->has_lost = false;
  return error;
}

static __attribute__((noinline)) int failed(NVM_POOL *pool, enum nvm_error error) {
  nvmi_trace_alone(NVM_TRACE_FAILED, error);
  if (error == NVM_EUNSAFE)
    return -1; /* recorded where it was found */
  return nvmi_fail(error, pool ? pool->path : NULL,
                   "the transaction could not be committed (%s) and was undone",
                   nvm_error_name(error));
}

static void begin_outermost(struct nvmi_thread *thread) {
  if (thread->node)
    nvmi_order_begin(thread);
  nvmi_trace_alone(NVM_TRACE_BEGIN, 0);
}

/* Inside of what the thread has begun before. */
static void tell_of_begin(const struct nvmi_thread *thread) {
  if (NVMI_UNLIKELY(nvmi_watched))
    nvmi_watch_begin(thread->begun + thread->frames.count);
  if (NVMI_UNLIKELY(nvmi_tracing) && nvmi_in_signal_handler())
    nvmi_trace_alone(NVM_TRACE_HANDLER, 0);
}

static __attribute__((noinline)) int begin_slowly(NVM_POOL *pool) {
  if (!pool)
    return nvmi_fail_no_pool();
  struct nvmi_thread *thread = nvmi_thread_self();
  nvmi_tx_look_for_a_jump(thread);
  enum nvm_error error = nvmi_tx_finish_implicit(thread);
  if (NVMI_UNLIKELY(error && error != NVM_ECHILD))
    return failed(pool, error);
  if (!nvmi_in_transaction(thread))
    begin_outermost(thread);
  tell_of_begin(thread);
  thread->begun++;
  return 0;
}

int nvm_tx_begin(NVM_POOL *pool) {
  struct nvmi_thread *thread = nvmi_self;
  if (NVMI_UNLIKELY(!pool || !thread || thread->touched || thread->busy || thread->node ||
                    thread->has_lost || thread->roots || nvmi_goes_slowly()))
    return begin_slowly(pool);
  thread->begun++;
  return 0;
}

static inline __attribute__((always_inline)) enum nvm_error
end_outermost(struct nvmi_thread *thread) {
  if (nvmi_in_transaction(thread))
    return NVM_OK;
  if (NVMI_UNLIKELY(nvmi_tracing && !thread->touched))
    nvmi_trace_alone(NVM_TRACE_POINT, 3);
  if (NVMI_UNLIKELY(nvmi_compares && !thread->touched))
    nvmi_compare_all(); /* a transaction of stores that nobody noted is none to anybody */
  if (NVMI_LIKELY(!thread->doomed))
    return finish_outermost(thread, true);
  thread->doomed = false;
  nvmi_tx_finish(thread, false);
  return NVM_EABORTED;
}

int nvm_tx_commit(NVM_POOL *pool) {
  struct nvmi_thread *thread = nvmi_thread_self();
  nvmi_tx_look_for_a_jump(thread);
  if (!pool)
    return nvmi_fail_no_pool();
  if (NVMI_UNLIKELY(!thread->begun))
    return nvmi_tx_end_unbegun(thread, pool, true);
  if (NVMI_UNLIKELY(thread->roots != NULL))
    nvmi_tx_save_roots_inside(thread);
  thread->begun--;
  enum nvm_error error = end_outermost(thread);
  if (NVMI_UNLIKELY(pool->forked))
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot commit; its copy stays its own");
  return NVMI_LIKELY(!error) ? 0 : failed(pool, error);
}

int nvm_tx_abort(NVM_POOL *pool) {
  struct nvmi_thread *thread = nvmi_thread_self();
  nvmi_tx_look_for_a_jump(thread); /* of code that does not say where it lands (tx/wrap.c) */
  if (!pool)
    return nvmi_fail_no_pool();
  if (!thread->begun)
    return nvmi_tx_end_unbegun(thread, pool, false);
  nvmi_tx_finish(thread, false);
  thread->begun--;
  thread->doomed = nvmi_in_transaction(thread);
  if (thread->doomed)
    nvmi_trace_alone(NVM_TRACE_BEGIN, 0); /* what follows is in the outer one, and undone as well */
  return 0;
}

void __nvm_atomic_enter(void *Frame) {
  struct nvmi_thread *thread = nvmi_thread_self();
  nvmi_tx_look_for_a_jump(thread); /* of code that does not say where it lands (landed.c) */
  enum nvm_error error = nvmi_tx_finish_implicit(thread);
  if (error && error != NVM_ECHILD)
    nvmi_tx_fatal(error, "what was stored outside transactions before an atomic call");
  if (!nvmi_in_transaction(thread))
    begin_outermost(thread);
  tell_of_begin(thread);
  if (NVMI_UNLIKELY(!thread->frames.items))
    nvmi_is_on_own_stack(0); /* a handler that jumps cannot look for the first time */
  if (!nvmi_array_push(&thread->frames, &Frame, sizeof Frame))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for nested atomic calls");
}

/* An atomic call has no way to report that its commit failed. */
void nvmi_tx_leave(struct nvmi_thread *thread) {
  enum nvm_error error = end_outermost(thread);
  if (error && error != NVM_ECHILD && error != NVM_EABORTED)
    nvmi_tx_fatal(error, "an atomic call");
}

void __nvm_atomic_leave(void *Frame) {
  struct nvmi_thread *thread = nvmi_thread_self();
  void **frames = thread->frames.items;
  if (NVMI_UNLIKELY(thread->roots != NULL))
    nvmi_tx_save_roots_inside(thread);
  while (thread->frames.count && frames[thread->frames.count - 1] <= Frame)
    if (frames[--thread->frames.count] == Frame)
      break;
  nvmi_tx_leave(thread);
}
