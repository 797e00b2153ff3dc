/* thread.c: a thread's own state, from its first note to its end.
 *
 * The end is a destructor of thread-specific data. The C library makes at most
 * PTHREAD_DESTRUCTOR_ITERATIONS rounds of these.
 */
#define _GNU_SOURCE
#include "core/thread.h"
#include "base/uncancelled.h"
#include "core/alias.h"

#include "core/held.h"
#include "core/log_state.h"
#include "core/root_hooks.h"
#include "core/sealed.h"
#include "core/tracing.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NESTED_ROOM = 2048 }; /* lines that signal handlers may note in one transaction */

/* Of all threads that have noted nothing; nothing but zeros is stored there. */
static struct nvm_line_table nothing_noted;
_Thread_local struct nvm_line_table *__nvm_lines = &nothing_noted;

_Thread_local struct nvmi_thread *nvmi_self;
static pthread_key_t key;
/* Calls of end() in this thread: one in each round of destructors of thread-specific data. */
static _Thread_local unsigned rounds;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_THREADS];

void nvmi_threads_lock(void) { nvmi_lock(lock); }
void nvmi_threads_unlock(void) { nvmi_unlock(lock); }

static void leave(struct nvmi_thread *thread) {
  sigset_t all, before;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  if (nvmi_thread_ends)
    nvmi_thread_ends(thread);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
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
  if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS) /* else no handler stores in this thread any more */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (argument != &rounds)
    leave(argument);
}

/* The process's first thread may have ended: then it is counted, until the process ends. */
static bool is_first_over(void) {
  char text[256] = "", path[40];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
  int file = NVMI_UNCANCELLED(open(path, O_RDONLY | O_CLOEXEC));
  ssize_t size = file < 0 ? -1 : NVMI_UNCANCELLED(read(file, text, sizeof text - 1));
  if (file >= 0)
    NVMI_UNCANCELLED(close(file));
  const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
  return name_end && name_end[1] == ' ' && name_end[2] == 'Z';
}

/* A folder has a link more for each folder in it, and two of its own. */
static bool is_last_thread(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink - 2 - is_first_over() == 1;
}

static void make_key(void) { pthread_key_create(&key, end); }

static struct nvmi_thread *make(bool outlives) {
  pthread_once(&once, make_key);
  struct nvmi_thread *thread =
      mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (thread == MAP_FAILED ||
      !nvmi_array_reserve(&thread->nested, NESTED_ROOM, sizeof(struct nvmi_line)))
    nvmi_die(NULL, "out of memory for a thread's transaction state");
  thread->table = __nvm_lines = &thread->lines_table;
  thread->held = &nvmi_held;
  thread->id = (int)syscall(SYS_gettid);
  thread->outlives = thread->handlers_store = outlives;
  pthread_setspecific(key, thread);
  return nvmi_self = thread;
}

/* Signals wait: a handler that stores to a pool must find the state whole or not there; then it has made
 * one by now. */
struct nvmi_thread *nvmi_thread_make(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct nvmi_thread *thread = nvmi_self;
  if (!thread) {
    bool outlives =
        rounds == PTHREAD_DESTRUCTOR_ITERATIONS && !nvmi_exit_handler && !is_last_thread();
    if (outlives)
      nvmi_tell(
          "nvmove: a thread uses persistent memory after its end, in the last round of destructors "
          "of thread-specific data: what it stores outside transactions is not noted, and may be "
          "lost\n");
    thread = make(outlives);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return thread;
}

void nvmi_before_fatal_handler(void) {
  if (nvmi_self)
    nvmi_self->busy = nvmi_self->finishes = 0; /* nobody is interrupted any more */
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
    if (thread->logs[i]) {
      nvmi_alias_mend(thread->logs[i]);
      atomic_store_explicit(&thread->logs[i]->solo, 0, memory_order_release);
    }
  nvmi_compiler_barrier();
  thread->finishes = false;
  thread->busy = 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

_Thread_local struct nvmi_held nvmi_held;
void (*_Atomic nvmi_exit_handler)(void);
void (*_Atomic nvmi_thread_ends)(struct nvmi_thread *thread);
