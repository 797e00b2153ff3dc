/* kill.h: ends the process at a chosen step, so that tests can crash at every one of them.
 *
 * NVMOVE_KILL_AT=KIND:N, read when the first pool is opened or created: the N-th step of that kind
 * (append, commit, recover, create, grow, move, repair, count) kills the process as SIGKILL does.
 * Off, a step costs one predictable branch.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

enum nvmi_step {
  NVMI_STEP_APPEND,
  NVMI_STEP_COMMIT,
  NVMI_STEP_RECOVER,
  NVMI_STEP_CREATE,
  NVMI_STEP_GROW,
  NVMI_STEP_MOVE,
  NVMI_STEP_REPAIR,
  NVMI_STEP_COUNT,
  NVMI_STEPS
};

extern _Atomic bool nvmi_kill_armed;
void nvmi_kill_arm(void);
/* Whether it is KIND:N, N from 1 on. */
bool nvmi_kill_is_step(const char *wish);
void nvmi_kill_step(enum nvmi_step step);

static inline void nvmi_step(enum nvmi_step step) {
  if (__builtin_expect(atomic_load_explicit(&nvmi_kill_armed, memory_order_relaxed), 0))
    nvmi_kill_step(step);
}
