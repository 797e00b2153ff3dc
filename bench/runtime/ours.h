/* ours.h: what the workloads on libnvmove share. */
#pragma once

#include "nvmove/nvmove.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Ends the measurement with libnvmove's last message. */
static inline void need(int condition) {
  if (condition)
    return;
  printf("%s\n", nvm_strerror());
  fflush(stdout);
  _exit(1);
}

static inline double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static inline double wall_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }
/* Of all threads together. */
static inline double processor_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
