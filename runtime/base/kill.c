/* kill.c: counts steps and dies at the chosen one (kill.h). */
#include "base/kill.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[NVMI_STEPS] = {"append", "commit", "recover", "create",
                                              "grow",   "move",   "repair",  "count"};

_Atomic bool nvmi_kill_armed;
static _Atomic enum nvmi_step armed_step;
static _Atomic long steps_left;

void nvmi_kill_arm(void) {
  const char *value = getenv("NVMOVE_KILL_AT");
  nvmi_kill_armed = false;
  if (!value)
    return;
  for (int i = 0; i < NVMI_STEPS; i++) {
    size_t length = strlen(names[i]);
    if (strncmp(value, names[i], length) == 0 && value[length] == ':') {
      armed_step = (enum nvmi_step)i;
      steps_left = strtol(value + length + 1, NULL, 10);
      nvmi_kill_armed = steps_left > 0;
    }
  }
}

void nvmi_kill_step(enum nvmi_step step) {
  if (step == armed_step && atomic_fetch_sub(&steps_left, 1) == 1)
    raise(SIGKILL);
}
