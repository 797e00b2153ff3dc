/* clock.c: see clock.h. */
#define _GNU_SOURCE
#include "emulation/clock.h"

#include <cpuid.h>
#include <time.h>

enum { ROUNDS = 3, ROUND_NANOSECONDS = 500000 };
static const double difference_max = 0.01; /* between two rounds */

struct nvmi_clock nvmi_clock = {1.0, UINT64_C(1) << NVMI_CLOCK_SHIFT, 0, 0};

/* The same speed whatever the processor does, and alike on all of them. */
static bool is_invariant(void) {
  enum { LEAF = 0x80000007, INVARIANT = 1 << 8 };
  unsigned a, b, c, d = 0;
  return __get_cpuid(LEAF, &a, &b, &c, &d) && d & INVARIANT;
}

static uint64_t system_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* One moment by both clocks. */
struct moment {
  uint64_t nanoseconds, ticks;
};

/* The closest of some looks: between the two the thread may be interrupted. */
static struct moment look(void) {
  enum { LOOKS = 20 };
  struct moment best = {0, 0};
  uint64_t closest = UINT64_MAX;
  for (int i = 0; i < LOOKS; i++) {
    uint64_t before = nvmi_clock_now(), now = system_time(), after = nvmi_clock_now();
    if (after - before < closest) {
      closest = after - before;
      best = (struct moment){now, before + closest / 2};
    }
  }
  return best;
}

static double measure(void) {
  struct moment from = look(), to;
  do
    to = look();
  while (to.nanoseconds - from.nanoseconds < ROUND_NANOSECONDS);
  return (double)(to.ticks - from.ticks) / (double)(to.nanoseconds - from.nanoseconds);
}

const char *nvmi_clock_calibrate(void) {
  if (!is_invariant())
    return "this processor's time stamp counter changes its speed";
  double least = 0, most = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double ticks = measure();
    least = !round || ticks < least ? ticks : least;
    most = ticks > most ? ticks : most;
  }
  if (least <= 0 || (most - least) / least > difference_max)
    return "the time stamp counter and the system's clock do not agree";
  nvmi_clock.ticks = (least + most) / 2;
  nvmi_clock.scaled = (uint64_t)(nvmi_clock.ticks * (double)(UINT64_C(1) << NVMI_CLOCK_SHIFT));
  return 0;
}
