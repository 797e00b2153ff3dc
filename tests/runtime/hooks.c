/* hooks.c: see hooks.h. */
#define _GNU_SOURCE
#include "hooks.h"

#include <linux/membarrier.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*step_hook)(enum nvmi_step step);
void (*hook_barrier)(void);
void (*hook_yield)(void);
_Atomic unsigned hook_unmapped;

void hook_steps(void (*hook)(enum nvmi_step step)) {
  step_hook = hook;
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
  if (hook_yield)
    hook_yield();
  return __real_sched_yield();
}

int __real_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size) {
  hook_unmapped++;
  return __real_munmap(address, size);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  long arguments[6];
  va_list more;
  va_start(more, number);
  for (int i = 0; i < 6; i++)
    arguments[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_membarrier && arguments[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED && hook_barrier)
    hook_barrier();
  return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4], arguments[5]);
}
