/* ended.c: see ended.h. Each look takes the order's mutex, which all threads need that acquire or
 * release locks: so who waits long looks seldom. */
#define _GNU_SOURCE
#include "order/ended.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS = 16, NAP_NS_MIN = 50000, NAP_NS_MAX = 2000000 };

static _Atomic uint32_t ends;
static atomic_uint asleep;

uint32_t nvmi_ends(void) { return atomic_load(&ends); }

void nvmi_tell_end(void) {
  atomic_fetch_add(&ends, 1);
  if (atomic_load(&asleep))
    syscall(SYS_futex, &ends, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void nvmi_await_end(uint32_t seen, unsigned tries) {
  if (tries < YIELDS) {
    sched_yield();
    return;
  }
  long nap = NAP_NS_MIN;
  for (unsigned i = YIELDS; i < tries && nap < NAP_NS_MAX; i += YIELDS)
    nap *= 2;
  struct timespec time = {.tv_nsec = nap < NAP_NS_MAX ? nap : NAP_NS_MAX};
  atomic_fetch_add(&asleep, 1);
  syscall(SYS_futex, &ends, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
  atomic_fetch_sub(&asleep, 1);
}
