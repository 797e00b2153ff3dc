/* locks.h: the locks of the program and of the runtime (locks.c). */
#pragma once

#include <pthread.h>

/* The runtime's own: they order nothing among transactions. */
void nvmi_lock(pthread_mutex_t *mutex);
void nvmi_unlock(pthread_mutex_t *mutex);
