/* tx.c: where transactions begin and end.
 *
 * A transaction belongs to a thread. It is open while nvm_tx_begin calls are unmatched or atomic
 * calls are running; stores outside belong to an implicit one that the next beginning, commit
 * point, close or the thread's end commits. The end is the same for all methods: collect the lines,
 * hand them over.
 */
#include "internal.h"

#include "heap.h"
#include "log.h"
#include "types.h"

#include <signal.h>
#include <string.h>

static enum nvm_error finish_pool(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                                  bool commit) {
  struct nvm_pool *pool = log->pool;
  enum nvm_error error = pool->forked ? NVM_ECHILD : NVM_OK;
  if (commit && !error && pool->check_pointers)
    error = nvmi_check_pointers(pool, lines, count);
  if (commit && !error)
    error = pool->method->commit(log, lines, count);
  if (commit && !error) {
    log->stats.commits++;
    nvmi_heap_committed(log);
    return NVM_OK;
  }
  if (error != NVM_ECHILD)
    pool->method->abort(log, lines, count);
  log->stats.aborts++;
  nvmi_heap_aborted(log);
  return error;
}

/* All lines of the transaction end up in thread->lines; the table is empty afterwards. */
static void collect(struct nvmi_thread *thread, size_t nested) {
  size_t count = thread->lines.count;
  if (!nvmi_array_reserve(&thread->lines, count + thread->used_count + nested,
                          sizeof(struct nvmi_line)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
  struct nvmi_line *lines = thread->lines.items;
  for (unsigned i = 0; i < thread->used_count; i++) {
    struct nvm_line *slot = &thread->table->slot[thread->used[i]];
    lines[count++] = (struct nvmi_line){slot->line, ~slot->missing};
    slot->line = 0;
  }
  if (nested)
    memcpy(lines + count, thread->nested.items, nested * sizeof *lines);
  thread->used_count = 0;
  thread->lines.count = count + nested;
}

/* Forgets the first `count` lines of signal handlers; more may have come. */
static void drop_nested(struct nvmi_thread *thread, size_t count) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct nvmi_line *items = thread->nested.items;
  thread->nested.count -= count;
  memmove(items, items + count, thread->nested.count * sizeof *items);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With several pools: the lines of one of them, moved to the end of the list. */
static const struct nvmi_line *lines_of(struct nvmi_thread *thread, const struct nvm_pool *pool,
                                        size_t all, size_t *count) {
  if (!nvmi_array_reserve(&thread->lines, 2 * all, sizeof(struct nvmi_line)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
  struct nvmi_line *lines = thread->lines.items, *own = lines + all;
  *count = 0;
  for (size_t i = 0; i < all; i++)
    if (nvmi_pool_at((void *)((lines[i].line & ~NVMI_RANGE) << 6)) == pool)
      own[(*count)++] = lines[i];
  return own;
}

static enum nvm_error finish(struct nvmi_thread *thread, bool commit) {
  uint64_t touched = thread->touched;
  if (!touched)
    return NVM_OK;
  enum nvm_error result = NVM_OK;
  int depth = thread->busy++;
  thread->touched = 0;
  size_t nested = thread->nested.count;
  collect(thread, nested);
  size_t all = thread->lines.count;
  bool several = touched & (touched - 1);
  for (; touched; touched &= touched - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(touched)];
    const struct nvmi_line *lines = thread->lines.items;
    size_t count = all;
    if (several)
      lines = lines_of(thread, log->pool, all, &count);
    enum nvm_error error = finish_pool(log, lines, count, commit);
    result = result ? result : error;
  }
  thread->lines.count = 0;
  thread->fresh_count = 0;
  thread->ahead_count = 0; /* left behind by a longjmp out of a signal handler */
  thread->table->ahead = 0;
  thread->fresh_stores = false;
  if (NVMI_UNLIKELY(nested))
    drop_nested(thread, nested);
  nvmi_compiler_barrier();
  thread->busy = depth;
  return result;
}

/* Where handlers are known to store, they wait: what one stores belongs to one transaction, whole.
 */
enum nvm_error nvmi_tx_finish(struct nvmi_thread *thread, bool commit) {
  if (NVMI_LIKELY(!thread->handlers_store))
    return finish(thread, commit);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  enum nvm_error error = finish(thread, commit);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

enum nvm_error nvmi_tx_finish_implicit(struct nvmi_thread *thread) {
  if (NVMI_LIKELY(!thread->touched) || nvmi_in_transaction(thread))
    return NVM_OK;
  for (uint64_t left = thread->touched; left; left &= left - 1)
    thread->logs[__builtin_ctzll(left)]->stats.implicit_commits++;
  return nvmi_tx_finish(thread, true);
}

static int failed(NVM_POOL *pool, enum nvm_error error) {
  if (error == NVM_EUNSAFE)
    return -1; /* recorded where it was found */
  return nvmi_fail(error, pool ? pool->path : NULL,
                   "the transaction could not be committed (%s); it was undone",
                   nvm_error_name(error));
}

int nvm_tx_begin(NVM_POOL *pool) {
  if (!pool)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool was given");
  struct nvmi_thread *thread = nvmi_thread_self();
  enum nvm_error error = nvmi_tx_finish_implicit(thread);
  if (NVMI_UNLIKELY(error && error != NVM_ECHILD))
    return failed(pool, error);
  thread->begun++;
  return 0;
}

static enum nvm_error end_outermost(struct nvmi_thread *thread) {
  if (nvmi_in_transaction(thread))
    return NVM_OK;
  bool doomed = thread->doomed;
  thread->doomed = false;
  enum nvm_error error = nvmi_tx_finish(thread, !doomed);
  return doomed ? NVM_EABORTED : error;
}

int nvm_tx_commit(NVM_POOL *pool) {
  struct nvmi_thread *thread = nvmi_thread_self();
  if (!pool)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool was given");
  if (!thread->begun)
    return nvmi_fail(NVM_ENOTX, pool->path, "commit without begin");
  thread->begun--;
  enum nvm_error error = end_outermost(thread);
  if (NVMI_UNLIKELY(pool->forked))
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot commit; its copy stays its own");
  return NVMI_LIKELY(!error) ? 0 : failed(pool, error);
}

int nvm_tx_abort(NVM_POOL *pool) {
  struct nvmi_thread *thread = nvmi_thread_self();
  if (!pool)
    return nvmi_fail(NVM_EARGUMENT, NULL, "no pool was given");
  if (!thread->begun)
    return nvmi_fail(NVM_ENOTX, pool->path, "abort without begin");
  nvmi_tx_finish(thread, false);
  thread->begun--;
  thread->doomed = nvmi_in_transaction(thread);
  return 0;
}

void __nvm_atomic_enter(void *Frame) {
  struct nvmi_thread *thread = nvmi_thread_self();
  enum nvm_error error = nvmi_tx_finish_implicit(thread);
  if (error && error != NVM_ECHILD)
    nvmi_fatal(error, NULL, "stores outside transactions could not be committed");
  if (!nvmi_array_push(&thread->frames, &Frame, sizeof Frame))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for nested atomic calls");
}

/* An atomic call has no way to report that its commit failed. */
static void leave(struct nvmi_thread *thread) {
  enum nvm_error error = end_outermost(thread);
  if (error && error != NVM_ECHILD && error != NVM_EABORTED)
    nvmi_fatal(error, NULL,
               error == NVM_EUNSAFE ? nvm_strerror() : "an atomic call could not be committed");
}

void __nvm_atomic_leave(void *Frame) {
  struct nvmi_thread *thread = nvmi_thread_self();
  void **frames = thread->frames.items;
  while (thread->frames.count && frames[thread->frames.count - 1] <= Frame)
    if (frames[--thread->frames.count] == Frame)
      break;
  leave(thread);
}

void __nvm_atomic_landed(void *Frame) {
  struct nvmi_thread *thread = nvmi_thread_self();
  void **frames = thread->frames.items;
  size_t before = thread->frames.count;
  while (thread->frames.count && frames[thread->frames.count - 1] < Frame)
    thread->frames.count--;
  if (thread->frames.count != before)
    leave(thread);
}

void __nvm_commit_point(void) {
  enum nvm_error error = nvmi_tx_finish_implicit(nvmi_thread_self());
  if (error && error != NVM_ECHILD)
    nvmi_fatal(error, NULL, "what was open at a commit point could not be committed");
}

void __nvm_check_pointer(void *Slot, void *Value, const struct nvm_site *Site) {
  NVM_POOL *pool = nvmi_pool_at(Slot);
  if (!pool || !Value || nvmi_pool_at(Value) == pool)
    return;
  nvmi_die(pool->path, "%s:%u:%u: unsafe pointer: %s at %p gets %p, which lies in %s", Site->file,
           Site->line, Site->column, Site->field ? Site->field : "a persistent pointer", Slot,
           Value, nvmi_pool_at(Value) ? "another pool" : "volatile memory");
}
