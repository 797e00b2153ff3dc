/* exits.c: see exits.h. */
#include "core/exits.h"

#include "base/error.h"
#include "base/signal_frame.h"
#include "core/gate.h"

#include <pthread.h>
#include <stdlib.h>

static void (*again)(void);
static bool is_in_handler; /* exit itself was called there */
static pthread_t exiting;
static bool others_asked; /* a thread that still runs has asked for it */

void nvmi_exit_left(void (*handler)(void)) {
  again = handler;
  __atomic_store_n(&exiting, pthread_self(), __ATOMIC_RELAXED);
  is_in_handler = nvmi_in_signal_handler();
  __atomic_store_n(&others_asked, false, __ATOMIC_RELAXED);
  __atomic_store_n(&nvmi_slow.exited, true, __ATOMIC_RELEASE);
}

/* The thread that exits asks for itself: another may be about to, and come too late for it. */
void nvmi_exit_again(void) {
  if (!is_in_handler && nvmi_in_signal_handler())
    return;
  bool is_own = pthread_equal(pthread_self(), __atomic_load_n(&exiting, __ATOMIC_RELAXED));
  bool asks = is_own ? __atomic_exchange_n(&nvmi_slow.exited, false, __ATOMIC_ACQUIRE)
                     : !__atomic_exchange_n(&others_asked, true, __ATOMIC_ACQUIRE);
  if (asks && atexit(again) && is_own)
    nvmi_tell("nvmove: what the process stores after the last function that exit calls, as a "
              "stream's own write "
              "function may (fopencookie), is not kept\n");
}
