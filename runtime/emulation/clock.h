/* clock.h: the processor's time stamp counter as a clock, and waits by it.
 *
 * Tick: one of the counter. A wait is a loop that looks at the counter: a thread that sleeps would wake
 * up thousands of nanoseconds late.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

enum { NVMI_CLOCK_SHIFT = 32 };
struct nvmi_clock {
  double ticks;      /* in a nanosecond */
  uint64_t scaled;   /* the same, << NVMI_CLOCK_SHIFT */
  uint64_t overhead; /* ticks that a wait takes more than it is asked for */
  uint64_t unwaited; /* ticks that a charge takes for which nobody waits */
};
extern struct nvmi_clock nvmi_clock;

/* Compares the counter with the system's clock for some thousandths of a second. Null, or why the
 * counter is none that time can be told by. */
const char *nvmi_clock_calibrate(void);

static inline uint64_t nvmi_clock_now(void) { return __rdtsc(); }
/* By whole numbers: the program's floating-point flags stay as they are. */
static inline uint64_t nvmi_clock_ticks(uint64_t nanoseconds) {
  return (uint64_t)((unsigned __int128)nanoseconds * nvmi_clock.scaled >> NVMI_CLOCK_SHIFT);
}
