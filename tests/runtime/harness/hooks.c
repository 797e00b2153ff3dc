/* hooks.c: see hooks.h. */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAPPINGS_MAX = 1024, TRIES_MAX = 1000000 };

static void (*step_hook)(enum nvmi_step step);
void (*hook_barrier)(void);
void (*_Atomic hook_yield)(void);
bool hook_no_barrier;
void (*hook_futex)(bool wakes);
_Atomic unsigned hook_maps;
_Atomic unsigned hook_unmapped;

void hook_steps(void (*hook)(enum nvmi_step step)) {
  step_hook = hook;
  nvmi_kill_armed = true;
}

void __real_nvmi_kill_arm(void);
void __wrap_nvmi_kill_arm(void);
/* Each opening arms anew; a hook stays. */
void __wrap_nvmi_kill_arm(void) {
  __real_nvmi_kill_arm();
  if (step_hook)
    nvmi_kill_armed = true;
}

void __real_nvmi_kill_step(enum nvmi_step step);
void __wrap_nvmi_kill_step(enum nvmi_step step);
void __wrap_nvmi_kill_step(enum nvmi_step step) {
  if (step_hook)
    step_hook(step);
  else
    __real_nvmi_kill_step(step);
}

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void) {
  void (*hook)(void) = hook_yield; /* a thread may take it away meanwhile */
  if (hook)
    hook();
  return __real_sched_yield();
}

/* What mmap gave. A child looks at nothing if a thread of its parent was in here as the parent forked:
   half a change may lie here, and nobody leaves. _Fork runs no handler: its child gives up waiting. */
static struct mapping {
  uintptr_t start, end;
} mappings[MAPPINGS_MAX];
static atomic_flag mappings_used = ATOMIC_FLAG_INIT;
static _Atomic bool mappings_lost;

static bool enter(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
  for (unsigned tries = 0; atomic_flag_test_and_set(&mappings_used) && !mappings_lost; tries++)
    if (tries == TRIES_MAX)
      mappings_lost = true;
    else
      __real_sched_yield(); /* no cancellation point */
  if (mappings_lost)
    pthread_sigmask(SIG_SETMASK, before, NULL);
  return !mappings_lost;
}

static void leave(const sigset_t *before) {
  atomic_flag_clear(&mappings_used);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void forked(void) {
  if (atomic_flag_test_and_set(&mappings_used))
    mappings_lost = true;
  atomic_flag_clear(&mappings_used);
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }

void hook_mapped(void *at, size_t size) {
  sigset_t before;
  hook_maps += at != MAP_FAILED;
  if (at == MAP_FAILED || !enter(&before))
    return;
  struct mapping *place = NULL;
  for (struct mapping *m = mappings; m < mappings + MAPPINGS_MAX && !place; m++)
    if (!m->start || m->start == (uintptr_t)at)
      place = m;
  uintptr_t end = (uintptr_t)at + size;
  if (!place)
    mappings_lost = true;
  else if (place->start != (uintptr_t)at || place->end < end) /* else a part of it: MAP_FIXED */
    *place = (struct mapping){(uintptr_t)at, end};
  leave(&before);
}

unsigned hook_mapped_now(void) {
  sigset_t before;
  unsigned count = 0;
  if (!enter(&before))
    return 0;
  for (struct mapping *m = mappings; m < mappings + MAPPINGS_MAX; m++)
    count += m->start != 0;
  leave(&before);
  return count;
}

/* A mapping may lie in a larger one. */
static void check_unmapped(uintptr_t at, size_t size) {
  uintptr_t end = 0;
  sigset_t before;
  if (!enter(&before))
    return;
  for (struct mapping *m = mappings; m < mappings + MAPPINGS_MAX; m++) {
    if (m->start && m->start <= at && at < m->end && end < m->end)
      end = m->end;
    if (m->start == at)
      m->start = 0;
  }
  leave(&before);
  if (end && at + size > end) {
    fprintf(stderr, "munmap(%#zx, %#zx): mmap gave it up to %#zx\n", at, size, end);
    abort();
  }
}

int __real_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size) {
  check_unmapped((uintptr_t)address, size);
  hook_unmapped++;
  return __real_munmap(address, size);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
/* The last argument is read from the stack, whether it was given or not. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...) {
  long arguments[6];
  va_list more;
  va_start(more, number);
  for (int i = 0; i < 6; i++)
    arguments[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_membarrier && hook_no_barrier) {
    errno = ENOSYS;
    return -1;
  }
  if (number == SYS_membarrier && arguments[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED && hook_barrier)
    hook_barrier();
  int operation = number == SYS_futex ? (int)arguments[1] & FUTEX_CMD_MASK : -1;
  if (operation == FUTEX_WAIT && hook_futex)
    hook_futex(false);
  long result = __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                               arguments[4], arguments[5]);
  if (operation == FUTEX_WAKE && hook_futex)
    hook_futex(true);
  return result;
}
