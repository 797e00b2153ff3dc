/* signals.c: see signals.h. */
#include "base/signals.h"

#include <stddef.h>

static _Thread_local unsigned depth;
static _Thread_local sigset_t outermost;

/* The mask comes first: a handler that interrupts this finds the depth as it is, and leaves it so. */
sigset_t nvmi_signals_hold(void) {
  sigset_t set = nvmi_signals_that_wait(), before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  if (!depth++)
    outermost = before;
  return before;
}

void nvmi_signals_release(const sigset_t *before) {
  depth -= depth != 0;
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

void nvmi_signals_release_all(void) {
  sigset_t before = outermost;
  if (!depth)
    return;
  depth = 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void nvmi_signals_forget(void) { depth = 0; }
