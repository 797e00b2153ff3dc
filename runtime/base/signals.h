/* signals.h: signals of the calling thread wait for a while.
 *
 * A signal handler of the program may store to a pool, take locks, or jump out of what it has interrupted. Where the
 * runtime is between two steps that such a handler must not come between, it holds signals back. Those that arrive
 * meanwhile are delivered by nvmi_signals_release. Two system calls; both are async-signal-safe. */
#pragma once

#include <signal.h>

/* Returns the mask to give back. Nests. */
static inline sigset_t nvmi_signals_hold(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

static inline void nvmi_signals_release(const sigset_t *before) {
  pthread_sigmask(SIG_SETMASK, before, NULL);
}
