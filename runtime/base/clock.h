/* clock.h: for how long something has been waited for. */
#pragma once

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds of a clock that nobody sets. The kernel is asked: a library that stands before
 * clock_gettime may take a lock, and this is called where the program releases one. */
static inline uint64_t nvmi_now_ns(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Seconds of it. */
static inline double nvmi_now(void) { return 1e-9 * (double)nvmi_now_ns(); }
