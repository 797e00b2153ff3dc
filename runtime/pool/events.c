/* events.c: fork, exit and SIGBUS.
 *
 * A forked child never changes a pool: the file's shared mapping is not inherited (map.c), its
 * commits fail with NVM_ECHILD. With shadow it keeps the program's view as it was, an ordinary
 * copy-on-write snapshot; with undo it has no mapping at all. The child of daemon() is no such one:
 * its parent ends, so it is the program from then on and inherits mappings, lock and all. A page
 * that the file lost (truncated, bad storage) raises SIGBUS: said in one line, then the handler
 * that the program had is asked, or the default action taken.
 */
#define _GNU_SOURCE
#include "pool/events.h"
#include "base/uncancelled.h"
#include "pool/close.h"
#include "pool/durable.h"

#include "base/own_files.h"
#include "base/own_threads.h"
#include "base/signal_frame.h"
#include "base/signals.h"
#include "core/exits.h"
#include "core/gate.h"
#include "core/map.h"
#include "core/root_hooks.h"
#include "core/standstill.h"
#include "core/tracing.h"
#include "gc/counts.h"
#include "heap/heap_types.h"
#include "interpose/interpose.h"
#include "order/commit_wait.h"
#include "order/order.h"
#include "platform/sync.h"
#include "pool/pool.h"
#include "tx/quiesce.h"
#include "tx/thread_end.h"
#include "tx/tx.h"
#include "tx/tx_order.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Also where the linker was not asked for linked.c: whoever opens a pool gets the runtime's free, and
 * what the writes of a library call that it loads (sites.c). */
extern const char NVM_ABI_VERSION_SYMBOL;
__attribute__((used)) static const char *const linked[] = {&nvmi_interposed,
                                                           &NVM_ABI_VERSION_SYMBOL};

static struct sigaction previous;

/* Its child by _Fork, clone or vfork runs no fork handlers: nothing of a pool is its own. */
static pid_t process;

static void each_pool(void (*visit)(struct nvm_pool *pool)) {
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++)
    if (nvmi_pool_number(i))
      visit(nvmi_pool_number(i));
}

static bool is_child; /* of a fork: it keeps nothing */

/* This thread's fork is that of daemon(). */
static _Thread_local bool hands_over;

static void prepare(struct nvm_pool *pool) {
  if (!pool->forked && pool->in_use && !hands_over)
    pool->method->before_fork(pool);
}

/* The parent of daemon() changes nothing from its fork on. The pools are its child's, which may commit before the
 * parent runs again: what the parent stored then, its roots above all, would take that back. So this thread counts as
 * one at work, and others wait at the gates. */
static bool stands;

static void hand(struct nvm_pool *pool) { nvmi_gate_shut(&pool->gate, NVMI_GATE_HANDED); }
static void take(struct nvm_pool *pool) { nvmi_gate_open(&pool->gate, NVMI_GATE_HANDED); }

static void stand_still(void) {
  each_pool(hand);
  nvmi_self->busy++;
  stands = true;
}

/* In the child, or where there is none. */
static void go_on(void) {
  if (!stands)
    return;
  stands = false;
  nvmi_self->busy--;
  each_pool(take);
}

/* The child's view is made under all locks, or, where the thread was interrupted, not at all: then
 * pages that nobody has written yet show it what the parent commits. */
static void before_fork(void) {
  if (nvmi_locks_before_fork(nvmi_self && nvmi_self->busy))
    each_pool(prepare);
  if (hands_over)
    stand_still();
}

static void in_parent(void) {
  nvmi_locks_after_fork(false);
  if (!hands_over)
    nvmi_trace_alone(NVM_TRACE_FORKED, 0);
}

static void orphan(struct nvm_pool *pool) {
  pool->fd = -1;
  pool->forked = true;
  pool->closing = false; /* by a thread that is not there */
  nvmi_gate_shut(&pool->gate, NVMI_GATE_CHILD);
}

static void in_child(void) {
  process = getpid();
  nvmi_slow.watched = false; /* it is the parent that somebody watches */
  go_on();
  nvmi_quiesce_forget();
  nvmi_own_threads_in_child();
  nvmi_sync_in_child(hands_over);
  if (!hands_over) {
    is_child = true;
    nvmi_order_forget();
    nvmi_own_files_forget(); /* a pool's lock is the parent's */
    each_pool(orphan);
    if (nvmi_self && !nvmi_self->busy)
      nvmi_tx_inherit(nvmi_self);
  }
  nvmi_locks_after_fork(true);
}

static bool is_shared(struct nvm_pool *pool) {
  nvmi_lock(&pool->lock);
  bool shared = nvmi_has_others(pool);
  nvmi_unlock(&pool->lock);
  return shared;
}

static void keep(struct nvm_pool *pool) {
  if (!pool->forked && pool->heap)
    nvmi_map_inherit(pool, false);
}

/* The process is another: the thread that synced is not in it. */
static void sync_late_again(struct nvm_pool *pool) {
  if (pool->file && !pool->forked)
    nvmi_delay_go_on(pool);
}

/* The first of the pools that cannot be handed over; null: all are ready for it. */
static const struct nvm_pool *offer_all(void) {
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    struct nvm_pool *pool = nvmi_pool_number(i);
    if (!pool || pool->forked)
      continue;
    if (!pool->heap || is_shared(pool) || !nvmi_map_inherit(pool, true))
      return pool;
    nvmi_counts_rest(pool);
  }
  return NULL;
}

int nvmi_daemon(int stay_in_folder, int keep_files, const struct nvm_pool **busy) {
  int result = -1, error = ENOTSUP;
  *busy = offer_all();
  if (!*busy) {
    nvmi_thread_self();
    sigset_t before = nvmi_signals_hold(); /* the parent's handlers would store, too */
    hands_over = true;
    result = daemon(stay_in_folder, keep_files);
    error = errno;
    hands_over = false;
    go_on();
    nvmi_signals_release(&before);
  }
  each_pool(keep);
  if (result == 0)
    each_pool(sync_late_again);
  errno = error;
  return result;
}

/* One that another thread is just opening may not be recovered yet: the next opening does it. One
 * that another thread closes goes away: none begins to be closed meanwhile. */
static void leave_all(void) {
  nvmi_lock(&nvmi_locks[NVMI_LOCK_LEAVING]);
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    struct nvm_pool *pool = nvmi_pool_in_use(i);
    if (pool && !pool->forked)
      nvmi_pool_leave(pool);
  }
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_LEAVING]);
}

/* Pools left open are closed; what this thread wrote outside transactions is committed first. What it has begun
 * stays open: functions that exit calls later may go on with it, and end it; else the next opening undoes it. What
 * is open in an atomic call is undone, with the transaction around it: those functions are not within it. */
static void end_thread(struct nvmi_thread *thread) {
  /* What called exit, as a handler may that interrupted read, does not go on. */
  thread->table->called = 0;
  thread->doomed = thread->doomed || (thread->begun && thread->frames.count);
  if (thread->begun) {
    thread->frames.count = 0;
    return;
  }
  if (nvmi_tx_stays_open(thread))
    return;
  if (nvmi_in_transaction(thread)) {
    nvmi_tx_finish(thread, false);
    thread->frames.count = 0;
  }
  nvmi_uses_open(thread);
  /* Who ends the process does not wait for ever for a thread that ends with it. */
  enum nvmi_waited waited =
      thread->touched && thread->node ? nvmi_commit_wait_soon(thread) : NVMI_WAITED_COMMIT;
  if (waited == NVMI_WAITED_LATER)
    nvmi_tx_finish(thread, false);
  enum nvm_error error =
      waited == NVMI_WAITED_LATER ? NVM_EOPENTX : nvmi_tx_finish_after(thread, waited);
  if (!error)
    error = nvmi_tx_finish_implicit(thread);
  nvmi_used_open(thread);
  if (error && error != NVM_ECHILD)
    nvmi_tell(
        "nvmove: %s; what was stored outside transactions before the process ended is undone\n",
        error == NVM_EUNSAFE ? nvm_strerror() : nvm_error_name(error));
}

/* The last thread may have ended before, with all that it had (pthread_exit). Signals wait while pools are
 * left: a handler that stores would wait for the locks of this thread. */
static void at_exit(void) {
  if (getpid() != process)
    return;
  sigset_t before = nvmi_signals_hold();
  if (nvmi_self)
    end_thread(nvmi_self);
  leave_all();
  nvmi_exit_left(at_exit);
  nvmi_signals_release(&before);
}

static void undo_all(struct nvmi_thread *thread) {
  nvmi_tx_finish(thread, false);
  thread->begun = 0;
  thread->frames.count = 0;
}

/* Behind all functions of the program that exit calls, destructors, too: nobody ends any more what is open. Other
 * stores may be left, of roots and of signal handlers, which ask for nothing (exits.h). */
static void at_last(void *unused) {
  (void)unused;
  bool has_loaded = nvmi_root_hooks && nvmi_root_hooks->own();
  if (getpid() != process || (!nvmi_self && !has_loaded))
    return;
  struct nvmi_thread *thread = nvmi_thread_self();
  if (nvmi_root_hooks && nvmi_root_hooks->has_ended(thread))
    return;
  if (nvmi_in_transaction(thread)) {
    undo_all(thread);
    at_exit();
  } else if (!is_child) {
    nvmi_tx_save_roots(thread);
    if (thread->touched)
      at_exit();
  }
}

static int is_interpreted(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_INTERP)
      return 1;
  return -1; /* the first is the program */
}

/* Of a program that is linked statically exit calls destructors behind functions that are registered as early as
 * this file can. This is the last of them. */
static void at_last_destructor(void) {
  if (dl_iterate_phdr(is_interpreted, NULL) < 0)
    at_last(NULL);
}
__attribute__((section(".fini_array.00000"),
               used)) static void (*const last)(void) = at_last_destructor;

/* Of no library: what atexit registers in a program that is linked as PIE goes with its destructors. */
int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* Before those of the program and its libraries, also where a constructor registers them: in the
 * parent theirs run before and behind these, while no lock of the runtime is held. */
static void watch_process(void) {
  pthread_atfork(before_fork, in_parent, in_child);
  if (dl_iterate_phdr(is_interpreted, NULL) > 0)
    __cxa_atexit(at_last, NULL, NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*const watch)(void) = watch_process;

static bool holds(const struct nvm_pool *pool, const char *address, uint64_t *offset) {
  uint64_t in_work = (uint64_t)(address - pool->work), in_home = (uint64_t)(address - pool->home);
  *offset = in_work < pool->header.range ? in_work : in_home;
  return *offset < pool->header.range;
}

/* Only calls that are allowed in a signal handler. */
static void say(const struct nvm_pool *pool, uint64_t offset) {
  char digits[20];
  size_t at = sizeof digits;
  do
    digits[--at] = (char)('0' + offset % 10);
  while (offset /= 10);
  const char *parts[] = {"nvmove: ", pool->path, ": SIGBUS at file offset ", NULL,
                         ": the file was truncated or its storage failed; restore a copy\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ssize_t written = parts[i]
                          ? NVMI_UNCANCELLED(write(STDERR_FILENO, parts[i], strlen(parts[i])))
                          : NVMI_UNCANCELLED(write(STDERR_FILENO, digits + at, sizeof digits - at));
    (void)written;
  }
}

static void say_where(const void *address) {
  uint64_t offset;
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++) {
    const struct nvm_pool *pool = nvmi_pool_number(i);
    if (pool && holds(pool, address, &offset))
      say(pool, offset);
  }
}

/* What would have happened to the signal without us. */
static void on_sigbus(int signal_number, siginfo_t *info, void *context) {
  bool is_sent = info->si_code <= 0; /* by a process: then it is not executed again */
  if (!is_sent)
    say_where(info->si_addr);
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal_number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal_number);
  } else if (!is_sent || previous.sa_handler == SIG_DFL) {
    signal(SIGBUS, SIG_DFL); /* the store is executed again and takes the default action */
    if (is_sent)
      raise(SIGBUS);
  }
}

static void install(void) {
  process = getpid();
  nvmi_thread_ends = nvmi_tx_thread_ends;
  struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
  if (nvmi_real_lock) /* else no locks are seen, and nobody asks */
    nvmi_signal_frame_prepare();
  atexit(at_exit);
}

void nvmi_events_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}
