/* exits.c: see exits.h. */
#include "core/exits.h"

#include "base/signal_frame.h"
#include "core/gate.h"

#include <stdlib.h>

static void (*again)(void);
static bool is_in_handler; /* exit itself was called there */

void nvmi_exit_left(void (*handler)(void)) {
  again = handler;
  is_in_handler = nvmi_in_signal_handler();
  __atomic_store_n(&nvmi_slow.exited, true, __ATOMIC_RELEASE);
}

void nvmi_exit_again(void) {
  if (!is_in_handler && nvmi_in_signal_handler())
    return;
  if (__atomic_exchange_n(&nvmi_slow.exited, false, __ATOMIC_ACQUIRE))
    atexit(again);
}
