/* thread.c: a thread's own state, from its first note to its end.
 *
 * A thread that ends commits what it wrote outside transactions and aborts an open transaction; its
 * logs are handed to the next thread that needs one. The end is a destructor of thread-specific
 * data. The C library makes at most PTHREAD_DESTRUCTOR_ITERATIONS rounds of these.
 */
#define _GNU_SOURCE
#include "core/internal.h"

#include "core/held.h"
#include "core/root_hooks.h"
#include "core/sealed.h"
#include "core/tracing.h"
#include "log/log.h"
#include "order/order.h"

#include <assert.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NESTED_ROOM = 2048 }; /* lines that signal handlers may note in one transaction */

/* Of all threads that have noted nothing; nothing but zeros is stored there. */
static struct nvm_line_table nothing_noted;
_Thread_local struct nvm_line_table *__nvm_lines = &nothing_noted;

/* Whoever is linked with the runtime gets its free (interpose.c), and what the writes of a library
 * call that it loads (sites.c). */
extern const char nvmi_interposed, NVM_ABI_VERSION_SYMBOL;
__attribute__((used)) static const char *const linked[] = {&nvmi_interposed,
                                                           &NVM_ABI_VERSION_SYMBOL};

_Thread_local struct nvmi_thread *nvmi_self;
static pthread_key_t key;
/* Calls of end() in this thread: one in each round of destructors of thread-specific data. */
static _Thread_local unsigned rounds;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_THREADS];

void nvmi_threads_lock(void) { nvmi_lock(lock); }
void nvmi_threads_unlock(void) { nvmi_unlock(lock); }

static enum nvm_error finish(struct nvmi_thread *thread) {
  if (!nvmi_in_transaction(thread))
    return nvmi_tx_finish_implicit(thread);
  nvmi_tx_finish(thread, false);
  thread->begun = 0;
  thread->frames.count = 0;
  return NVM_OK;
}

/* Where an implicit transaction is lost the process does not go on without knowing. Signals wait
 * from the last commit on: what a handler stores behind it belongs to a new state of this thread.
 * The thread leaves the order before its logs change: whoever undoes a transaction reads the logs
 * of the tickets that depend on it. */
static void leave(struct nvmi_thread *thread) {
  enum nvm_error error = NVM_OK;
  sigset_t all, before;
  nvmi_threads_lock();
  thread->leaves = true;
  nvmi_threads_unlock();
  if (thread->ticket) /* it may wait for a thread that ends, too */
    error = finish(thread);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  nvmi_threads_lock();
  if (!error)
    error = finish(thread);
  nvmi_order_leave(thread);
  assert(error || (!thread->touched && !thread->busy && !thread->in_heap && !thread->posts_count));
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++)
    if (thread->logs[i])
      nvmi_log_detach(thread->logs[i]);
  nvmi_threads_unlock();
  if (error && error != NVM_ECHILD)
    nvmi_fatal(error, NULL,
               error == NVM_EUNSAFE ? nvm_strerror()
                                    : "what a thread that ends has stored outside transactions "
                                      "could not be committed");
  nvmi_array_free(&thread->lines, sizeof(struct nvmi_line));
  nvmi_array_free(&thread->nested, sizeof(struct nvmi_line));
  nvmi_array_free(&thread->frames, sizeof(void *));
  nvmi_array_free(&thread->called, 3 * sizeof(void *));
  nvmi_array_free(&thread->image, sizeof(struct nvmi_sealed));
  nvmi_array_free(&thread->image_lines, sizeof(struct nvmi_line));
  nvmi_trace_thread_ends();
  nvmi_self = NULL;
  __nvm_lines = &nothing_noted;
  munmap(thread, sizeof *thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Other destructors may store after this one: it comes in each round, if only to count them. In the
 * last one ThreadSanitizer may have ended before. It asks for the next round first: the state that
 * a signal handler makes stands there from its first store on, and stays. */
static __attribute__((disable_sanitizer_instrumentation)) void end(void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  rounds++;
  if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_getspecific(key))
    pthread_setspecific(key, &rounds);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (argument != &rounds)
    leave(argument);
}

static void make_key(void) { pthread_key_create(&key, end); }

/* Signals wait: a handler that stores to a pool must find the state whole or not there. */
struct nvmi_thread *nvmi_thread_make(void) {
  if (rounds == PTHREAD_DESTRUCTOR_ITERATIONS && !nvmi_exits)
    nvmi_tell(
        "nvmove: a thread uses persistent memory after its end, in the last round of destructors "
        "of thread-specific data: what it stores outside transactions is lost, unless the "
        "process ends with the thread\n");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_once(&once, make_key);
  struct nvmi_thread *thread =
      mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (thread == MAP_FAILED ||
      !nvmi_array_reserve(&thread->nested, NESTED_ROOM, sizeof(struct nvmi_line)))
    nvmi_die(NULL, "out of memory for a thread's transaction state");
  thread->table = __nvm_lines = &thread->lines_table;
  thread->held = &nvmi_held;
  thread->id = (int)syscall(SYS_gettid);
  pthread_setspecific(key, thread);
  nvmi_self = thread;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return thread;
}

void nvmi_thread_left(struct nvmi_thread *thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread->used_count = 0;
  for (unsigned i = 0; i < NVM_LINE_SLOTS; i++)
    if (thread->table->slot[i].line)
      thread->used[thread->used_count++] = (uint16_t)i;
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++)
    if (thread->logs[i])
      atomic_store_explicit(&thread->logs[i]->solo, 0, memory_order_release);
  nvmi_compiler_barrier();
  thread->busy = 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

_Thread_local struct nvmi_held nvmi_held;
const struct nvmi_root_hooks *nvmi_root_hooks;
void (*_Atomic nvmi_port_unloaded)(void);
void (*_Atomic nvmi_port_landed)(const void *);
const struct nvmi_trace_table *nvmi_trace_table;
bool nvmi_exits;

struct nvmi_log *nvmi_log_make(struct nvmi_thread *thread, struct nvm_pool *pool) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct nvmi_log *log = nvmi_log_attach(thread, pool);
  if (log && nvmi_root_hooks)
    nvmi_root_hooks->join(thread, pool);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return log;
}
