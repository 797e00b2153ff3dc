/* observe.c: the switch, the lock, the memory, and when a point is due. See observe.h. */
#define _GNU_SOURCE
#include "observe/observe.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WRITE_EVERY 500000000ull /* ns between two writings of the file */
/* What points may take: FREE ns, as much processor time as the program, a SHARE of the time. */
#define FREE 200000000ull
#define SHARE 20

const char __nvm_observe = 1; /* what the linker is asked for */

enum { UNKNOWN, OFF, ON };
static _Atomic int state;
static char folder[PATH_MAX]; /* a copy: programs write their titles over their environment */
static uint64_t points, begun, taken, last_written; /* ns; `taken`: of the processor */
static _Atomic uint32_t lock; /* 0: free, 1: taken, 2: taken, and somebody waits */

static atomic_flag at_point = ATOMIC_FLAG_INIT; /* some thread is, or sees whether it is time */

static void turn_off(void) {
  atomic_store(&lock, 0); /* in a child: of a thread that it does not have */
  atomic_store(&state, OFF);
}

static void find_out(void) {
  const char *named = getenv("NVMOVE_OBSERVE");
  bool is_named = named && *named && strlen(named) < sizeof folder;
  if (is_named)
    strcpy(folder, named);
  int expected = UNKNOWN;
  atomic_compare_exchange_strong(&state, &expected, is_named ? ON : OFF);
}

bool nvmi_observe_is_on(void) {
  if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN)
    find_out();
  return atomic_load_explicit(&state, memory_order_relaxed) == ON;
}

void nvmi_observe_lock(void) {
  uint32_t seen = 0;
  if (atomic_compare_exchange_strong(&lock, &seen, 1))
    return;
  while (atomic_exchange(&lock, 2))
    syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void nvmi_observe_unlock(void) {
  if (atomic_exchange(&lock, 0) == 2)
    syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
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

static void follow(const void *frame, const char *end) {
  uint64_t start = now(CLOCK_THREAD_CPUTIME_ID), time = now(CLOCK_MONOTONIC);
  nvmi_observe_list_parts();
  nvmi_observe_lock();
  nvmi_observe_follow(frame, ++points);
  if (points == 1 || *end || time - last_written >= WRITE_EVERY) {
    nvmi_observe_write(folder, points, *end ? end : "killed");
    last_written = time;
  }
  nvmi_observe_unlock();
  taken += now(CLOCK_THREAD_CPUTIME_ID) - start;
}

static bool is_due(void) {
  uint64_t own = now(CLOCK_PROCESS_CPUTIME_ID) - taken, time = now(CLOCK_MONOTONIC) - begun;
  return taken <= FREE + own + time / SHARE;
}

void nvmi_observe_point(const void *frame) {
  if (!nvmi_observe_is_on() || atomic_flag_test_and_set(&at_point))
    return;
  int before = errno;
  if (is_due())
    follow(frame, "");
  errno = before;
  atomic_flag_clear(&at_point);
}

__attribute__((constructor)) static void begin(void) {
  begun = now(CLOCK_MONOTONIC);
  if (nvmi_observe_is_on())
    pthread_atfork(NULL, NULL, turn_off);
}

/* The last point: for a program that never waits it is the only one. */
__attribute__((destructor)) static void end(void) {
  if (nvmi_observe_is_on() && !atomic_flag_test_and_set(&at_point))
    follow(__builtin_frame_address(0), "exit");
}
