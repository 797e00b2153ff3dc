/* own_locks.c: the runtime's own locks, past what locks.c sees, where that is linked. */
#include "base/own_locks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void nvmi_locks_look(void) {
  static _Atomic bool told;
  if (nvmi_locks_check)
    nvmi_locks_check();
  else if (!atomic_exchange(&told, true))
    fputs(
        "nvmove: this program was linked without libnvmove's lock functions: a lock that is "
        "released inside a transaction orders nothing (docs/reference/semantics.md); link it with "
        "nvmove-cc, or with -Wl,-u,__nvmi_locks\n",
        stderr);
}

void nvmi_lock(pthread_mutex_t *mutex) {
  if (nvmi_real_lock)
    nvmi_real_lock(mutex);
  else
    pthread_mutex_lock(mutex);
}

bool nvmi_try_lock(pthread_mutex_t *mutex) {
  return (nvmi_real_try_lock ? nvmi_real_try_lock(mutex) : pthread_mutex_trylock(mutex)) == 0;
}

void nvmi_unlock(pthread_mutex_t *mutex) {
  if (nvmi_real_unlock)
    nvmi_real_unlock(mutex);
  else
    pthread_mutex_unlock(mutex);
}

struct nvmi_quiet nvmi_lock_quietly(pthread_mutex_t *mutex) {
  struct nvmi_quiet quiet = {.mutex = mutex};
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &quiet.before);
  nvmi_lock(mutex);
  return quiet;
}

void nvmi_unlock_quietly(const struct nvmi_quiet *quiet) {
  nvmi_unlock(quiet->mutex);
  pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}
