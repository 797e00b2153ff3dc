/* blocked.h: which signals a thread lets through. */
#pragma once

#include "harness.h"

#include <pthread.h>
#include <signal.h>

enum { SIGNALS = 4 };
static const int signals[SIGNALS] = {SIGUSR1, SIGUSR2, SIGHUP, SIGWINCH};

/* How many of these the thread blocks. */
static inline unsigned count_blocked(void) {
  unsigned count = 0;
  sigset_t blocked;
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0);
  for (unsigned i = 0; i < SIGNALS; i++)
    count += sigismember(&blocked, signals[i]);
  return count;
}
