/* signals.h: signals of the calling thread wait for a while.
 *
 * A signal handler of the program may store to a pool, take locks, or jump out of what it has interrupted. Where the
 * runtime is between two steps that such a handler must not come between, it holds signals back. Those that arrive
 * meanwhile are delivered when the mask is given back. Two system calls; both are async-signal-safe.
 *
 * Signals of faults do not wait: the kernel ends a process that cannot take one, and a page of a file that was truncated
 * has to reach the handlers of the runtime and of the program (semantics.md, promise 22). */
#pragma once

#include <signal.h>

static inline __attribute__((always_inline)) sigset_t nvmi_signals_that_wait(void) {
  sigset_t set;
  sigfillset(&set);
  sigdelset(&set, SIGBUS);
  sigdelset(&set, SIGSEGV);
  sigdelset(&set, SIGILL);
  sigdelset(&set, SIGFPE);
  return set;
}

/* Returns the mask to give back, in the opposite order. */
sigset_t nvmi_signals_hold(void);
void nvmi_signals_release(const sigset_t *before);
/* Control leaves all that holds signals back by a jump, and does not return: the mask is what it was before. */
void nvmi_signals_release_all(void);
/* The same where the jump has set a mask. */
void nvmi_signals_forget(void);
