/* pause.h: between two looks at what another thread does. */
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* `tries`: how often that was already. No cancellation point, as nanosleep is. */
static inline void nvmi_pause(unsigned tries) {
  enum { YIELDS = 64, NAP_NS = 50000 };
  if (tries < YIELDS)
    sched_yield();
  else
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = NAP_NS}, NULL);
}
