/* uncancelled.h: a thread is not cancelled (pthread_cancel) inside the runtime, which may hold locks
 * there, or have said that it is at work. Deferred cancellation happens in certain calls only: all
 * of the runtime's are made here. tests/tidy looks for others.
 */
#pragma once

#include <pthread.h>

/* The call, and its result. */
#define NVMI_UNCANCELLED(call)                                                                     \
  ({                                                                                               \
    int nvmi_state;                                                                                \
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &nvmi_state);                                   \
    __auto_type nvmi_result = (call);                                                              \
    pthread_setcancelstate(nvmi_state, NULL);                                                      \
    nvmi_result;                                                                                   \
  })
