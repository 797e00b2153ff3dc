/* own_locks.h: the runtime's own locks, past those of the program (order/locks.c). */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* The runtime's own: they order nothing among transactions. */
void nvmi_lock(pthread_mutex_t *mutex);
void nvmi_unlock(pthread_mutex_t *mutex);
bool nvmi_try_lock(pthread_mutex_t *mutex); /* true: it is locked */

/* The same for who is not at work (internal.h, `busy`): signals wait meanwhile. A handler that
 * stores would wait at a gate (tx/freeze.h) whose thread may wait for this lock. */
struct nvmi_quiet {
  pthread_mutex_t *mutex;
  sigset_t before;
};
struct nvmi_quiet nvmi_lock_quietly(pthread_mutex_t *mutex);
void nvmi_unlock_quietly(const struct nvmi_quiet *quiet);

/* Says once, on stderr, if locks are not seen: locks.c is not linked, or shared libraries do not
 * find it. */
void nvmi_locks_look(void);
__attribute__((weak)) void nvmi_locks_check(void);

/* The C library's, behind those that locks.c defines; null where it is not linked. */
__attribute__((weak)) int nvmi_real_lock(pthread_mutex_t *mutex);
__attribute__((weak)) int nvmi_real_try_lock(pthread_mutex_t *mutex);
__attribute__((weak)) int nvmi_real_unlock(pthread_mutex_t *mutex);
__attribute__((weak)) int nvmi_real_post(void *semaphore); /* sem_t */
