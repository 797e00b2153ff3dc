/* thread.c: a thread's own state, from its first note to its end.
 *
 * The end is a destructor of thread-specific data, the last one of each round.
 */
#define _GNU_SOURCE
#include "core/thread.h"
#include "base/signal_frame.h"
#include "base/signals.h"
#include "core/alias.h"
#include "core/barrier.h"
#include "core/captured.h"
#include "core/gate.h"
#include "core/held.h"
#include "core/log_state.h"
#include "core/root_hooks.h"
#include "core/tracing.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  NESTED_ROOM = 2048, /* lines that signal handlers may note in one transaction */
  LAST_KEY = 256      /* above the keys of the program and its libraries; there are 1,024 */
};

/* Of all threads that have noted nothing; nothing but zeros is stored there. */
static struct nvm_line_table nothing_noted;
_Thread_local struct nvm_line_table *__nvm_lines = &nothing_noted;

_Thread_local struct nvmi_thread *nvmi_self;
static pthread_key_t key, last_key;
static bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_THREADS];

void nvmi_threads_lock(void) { nvmi_lock(lock); }
void nvmi_threads_unlock(void) { nvmi_unlock(lock); }
bool nvmi_at_work(void) { return nvmi_self && nvmi_self->busy; }

/* What stays open is still this thread's: one that is the last of its process goes on with the functions that exit
 * calls. */
static void leave(struct nvmi_thread *thread) {
  static struct nvmi_held holds_nothing;
  if (nvmi_thread_ends && !nvmi_thread_ends(thread)) {
    thread->held = &holds_nothing; /* its own go with the thread */
    return;
  }
  nvmi_trace_thread_ends();
  nvmi_self = NULL;
  __nvm_lines = &nothing_noted;
  nvmi_array_free(&thread->lines, sizeof(struct nvmi_line));
  nvmi_array_free(&thread->nested, sizeof(struct nvmi_line));
  nvmi_array_free(&thread->frames, sizeof(void *));
  nvmi_array_free(&thread->called, 3 * sizeof(void *));
  nvmi_array_free(&thread->image, sizeof(struct nvmi_captured));
  nvmi_array_free(&thread->image_lines, sizeof(struct nvmi_line));
  munmap(thread, sizeof *thread);
}

static struct nvmi_thread *make(void);

/* Signals wait from here on: behind the last round nobody comes for what a handler stores. The C library makes
 * as many rounds as it can, as each asks for the next one. */
static __attribute__((disable_sanitizer_instrumentation)) void end(void *unused) {
  sigset_t all = nvmi_signals_that_wait();
  (void)unused;
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  if (!nvmi_self && nvmi_root_hooks && nvmi_root_hooks->own())
    nvmi_self = make(); /* roots may have changed since, which nobody notes */
  if (nvmi_self) {
    /* Of frames that are gone, where the thread was cancelled in read, say. */
    nvmi_self->table->called = 0;
    leave(nvmi_self);
  }
  pthread_setspecific(last_key, &last_key);
}

/* Before the program makes keys of its own, of which there are 1,024 in all. */
__attribute__((constructor)) static void make_key(void) {
  if (!has_key)
    has_key = pthread_key_create(&key, end) == 0;
}

/* glibc calls the destructors of a round in the order of their keys, which are numbers, the lowest free one
 * first. What other destructors store, also in the last round, is committed by one with a high number. It
 * cannot be set in a signal handler: it takes memory. */
static void make_keys(void) {
  pthread_key_t unused[LAST_KEY];
  unsigned count = 0;
  make_key(); /* for a constructor of the program */
  if (!has_key)
    nvmi_die(
        NULL,
        "all keys of thread-specific data are in use (pthread_key_create); libnvmove needs one, or "
        "nobody would commit what threads that end have stored");
  while (count < LAST_KEY && pthread_key_create(&unused[count], NULL) == 0)
    count++;
  if (pthread_key_create(&last_key, end) != 0)
    last_key = key;
  while (count)
    pthread_key_delete(unused[--count]);
}

static struct nvmi_thread *make(void) {
  pthread_once(&once, make_keys);
  struct nvmi_thread *thread =
      mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (thread == MAP_FAILED ||
      !nvmi_array_reserve(&thread->nested, NESTED_ROOM, sizeof(struct nvmi_line)))
    nvmi_die(NULL, "out of memory for a thread's transaction state");
  thread->table = __nvm_lines = &thread->lines_table;
  thread->held = &nvmi_held;
  thread->id = (int)syscall(SYS_gettid);
  thread->roots = nvmi_root_hooks ? nvmi_root_hooks->own() : NULL;
  pthread_setspecific(key, thread);
  if (!nvmi_in_signal_handler())
    pthread_setspecific(last_key, thread);
  return nvmi_self = thread;
}

/* Signals wait: a handler that stores to a pool must find the state whole or not there; then it has made
 * one by now. */
struct nvmi_thread *nvmi_thread_make(void) {
  sigset_t before = nvmi_signals_hold();
  struct nvmi_thread *thread = nvmi_self ? nvmi_self : make();
  nvmi_signals_release(&before);
  return thread;
}

void nvmi_before_fatal_handler(void) {
  if (!nvmi_self)
    return;
  nvmi_self->busy = nvmi_self->uses_open = 0; /* nobody is interrupted any more */
  nvmi_self->awaits = false;
  nvmi_signals_release_all();
}

void nvmi_thread_left(struct nvmi_thread *thread) {
  nvmi_signals_forget();
  sigset_t before = nvmi_signals_hold();
  thread->busy++; /* who jumps out of a wait is not: then nobody takes its logs away */
  nvmi_compiler_barrier();
  nvmi_gate_enter(thread, 0);
  thread->used_count = 0;
  for (unsigned i = 0; i < NVM_LINE_SLOTS; i++)
    if (thread->table->slot[i].line)
      thread->used[thread->used_count++] = (uint16_t)i;
  for (unsigned i = 0; i < NVMI_POOLS_MAX; i++)
    if (thread->logs[i]) {
      nvmi_alias_mend(thread->logs[i]);
      atomic_store_explicit(&thread->logs[i]->solo, 0, memory_order_release);
    }
  nvmi_compiler_barrier();
  thread->busy = thread->uses_open = 0;
  thread->awaits = false;
  nvmi_signals_release(&before);
}

_Thread_local struct nvmi_held nvmi_held;
bool (*_Atomic nvmi_thread_ends)(struct nvmi_thread *thread);
