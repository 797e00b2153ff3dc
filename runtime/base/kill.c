/* kill.c: counts steps and dies at the chosen one (kill.h). */
#include "base/kill.h"

#include "base/settings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[NVMI_STEPS] = {"append", "commit", "recover", "create",
                                              "grow",   "move",   "repair",  "count"};

_Atomic bool nvmi_kill_armed;
static _Atomic enum nvmi_step armed_step;
static _Atomic long steps_left;

static bool read_wish(const char *wish, enum nvmi_step *step, long *number) {
  for (int i = 0; i < NVMI_STEPS; i++) {
    size_t length = strlen(names[i]);
    char *end;
    if (strncmp(wish, names[i], length) || wish[length] != ':')
      continue;
    *step = (enum nvmi_step)i;
    *number = strtol(wish + length + 1, &end, 10);
    return wish[length + 1] >= '0' && wish[length + 1] <= '9' && !*end && *number > 0;
  }
  return false;
}

bool nvmi_kill_is_step(const char *wish) {
  enum nvmi_step step;
  long number;
  return read_wish(wish, &step, &number);
}

void nvmi_kill_arm(void) {
  const char *wish = nvmi_setting("NVMOVE_KILL_AT");
  enum nvmi_step step;
  long number;
  nvmi_kill_armed = false;
  if (!wish || !read_wish(wish, &step, &number))
    return;
  armed_step = step;
  steps_left = number;
  nvmi_kill_armed = true;
}

void nvmi_kill_step(enum nvmi_step step) {
  if (step == armed_step && atomic_fetch_sub(&steps_left, 1) == 1)
    raise(SIGKILL);
}
