/* own_locks.c: the runtime's own locks, past what locks.c sees, where that is linked. */
#include "order/locks.h"

#include <stddef.h>

void nvmi_lock(pthread_mutex_t *mutex) {
  if (nvmi_real_lock)
    nvmi_real_lock(mutex);
  else
    pthread_mutex_lock(mutex);
}

void nvmi_unlock(pthread_mutex_t *mutex) {
  if (nvmi_real_unlock)
    nvmi_real_unlock(mutex);
  else
    pthread_mutex_unlock(mutex);
}
