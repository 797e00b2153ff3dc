/* observe.c: the switch, the lock, the memory, and when a point is due. See observe.h. */
#define _GNU_SOURCE
#include "observe/observe.h"
#include "observe/links.h"
#include "observe/modules.h"
#include "observe/stacks.h"
#include "observe/writing.h"

#include "base/uncancelled.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What points may take, and writing as much: FREE ns, half of the program's processor time, a SHARE of
 * the time. */
#define FREE 100000000ull
#define SHARE 20
#define END_TRIES 2000 /* of a ms: for another thread's last point */

const char __nvm_observe = 1; /* what the linker is asked for */

enum { UNKNOWN, OFF, ON };
static _Atomic int state;
static char folder[PATH_MAX]; /* a copy: programs write their titles over their environment */
static uint64_t points, begun, taken, wrote; /* ns; `taken`, `wrote`: of the processor */
static _Atomic uint32_t lock;                /* 0: free, 1: taken, 2: taken, and somebody waits */

/* By this thread: what a signal handler does that has interrupted an allocation is not observed. */
static __thread volatile bool holds_lock __attribute__((tls_model("initial-exec")));
static atomic_flag at_point = ATOMIC_FLAG_INIT; /* some thread is, or sees whether it is time */

static void turn_off(void) {
  atomic_store(&lock, 0); /* in a child: of a thread that it does not have */
  atomic_store(&state, OFF);
}

/* As it is found from the folder where the program starts; it may leave that. Without functions that
 * allocate. */
static bool copy_folder(const char *named) {
  size_t length = 0;
  if (*named != '/' && syscall(SYS_getcwd, folder, sizeof folder - 1) > 0) {
    length = strlen(folder);
    folder[length++] = '/';
  }
  if (length + strlen(named) >= sizeof folder)
    return false;
  strcpy(folder + length, named);
  return true;
}

static void find_out(void) {
  const char *named = getenv("NVMOVE_OBSERVE");
  bool is_named = named && *named && copy_folder(named);
  int expected = UNKNOWN;
  atomic_compare_exchange_strong(&state, &expected, is_named ? ON : OFF);
}

bool nvmi_observe_is_on(void) {
  if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN)
    find_out();
  return atomic_load_explicit(&state, memory_order_relaxed) == ON && !holds_lock;
}

/* The mark stands for longer than the lock is held: a handler that comes in between takes none. */
void nvmi_observe_lock(void) {
  uint32_t seen = 0;
  holds_lock = true;
  if (!atomic_compare_exchange_strong(&lock, &seen, 1))
    while (atomic_exchange(&lock, 2))
      syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void nvmi_observe_unlock(void) {
  if (atomic_exchange(&lock, 0) == 2)
    syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  holds_lock = false;
}

void *nvmi_observe_memory(size_t size) {
  void *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    static const char said[] = "nvmove: observe: no memory for the notes of an observed run\n";
    syscall(SYS_write, STDERR_FILENO, said, sizeof said - 1);
    _exit(126);
  }
  return memory;
}

void nvmi_observe_give_back(void *memory, size_t size) { munmap(memory, size); }

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Of what points, and writing, may take. */
static bool is_within(uint64_t used) {
  uint64_t all = now(CLOCK_PROCESS_CPUTIME_ID), time = now(CLOCK_MONOTONIC) - begun;
  return used <= FREE + (all - taken - wrote) / 2 + time / SHARE;
}

static void note_wait(const void *frame) {
  struct nvmi_observe_stack *stack = nvmi_observe_stack_at(nvmi_observe_stack(frame));
  stack->wait_first = stack->wait_first ? stack->wait_first : points;
  stack->wait_last = points;
}

/* No handler runs meanwhile: it might allocate. */
static void follow(const void *frame, const char *end) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  uint64_t start = now(CLOCK_THREAD_CPUTIME_ID);
  nvmi_observe_list_parts();
  nvmi_observe_lock();
  nvmi_observe_follow(frame, ++points);
  note_wait(frame);
  uint64_t followed = now(CLOCK_THREAD_CPUTIME_ID);
  if (points == 1 || *end || is_within(wrote)) {
    nvmi_observe_write(folder, points, *end ? end : "killed");
    wrote += now(CLOCK_THREAD_CPUTIME_ID) - followed;
  }
  nvmi_observe_unlock();
  taken += followed - start;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void nvmi_observe_point(const void *frame) {
  if (!nvmi_observe_is_on() || atomic_flag_test_and_set(&at_point))
    return;
  int before = errno;
  if (is_within(taken))
    follow(frame, "");
  errno = before;
  atomic_flag_clear(&at_point);
}

__attribute__((constructor)) static void begin(void) {
  begun = now(CLOCK_MONOTONIC);
  if (nvmi_observe_is_on())
    pthread_atfork(NULL, NULL, turn_off);
}

/* The last point: for a program that never waits it is the only one. Another thread may be at one; if
 * a handler that interrupted one ends the process, there is none. */
__attribute__((destructor)) void nvmi_observe_exit(void) {
  static atomic_flag ended = ATOMIC_FLAG_INIT;
  if (!nvmi_observe_is_on() || atomic_flag_test_and_set(&ended))
    return;
  for (unsigned tries = 0; atomic_flag_test_and_set(&at_point); tries++)
    if (NVMI_UNCANCELLED(usleep(1000)), tries == END_TRIES)
      return;
  follow(__builtin_frame_address(0), "exit"); /* and no other point: the flag stays */
}
