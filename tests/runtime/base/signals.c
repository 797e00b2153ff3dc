/* signals.c: the mask that a thread gets back behind what holds its signals (base/signals.h), by hand. */
#include "base/signals.h"
#include "harness.h"

#include <stddef.h>

static void set_mask(int blocked) {
  sigset_t set;
  sigemptyset(&set);
  if (blocked)
    sigaddset(&set, blocked);
  CHECK(pthread_sigmask(SIG_SETMASK, &set, NULL) == 0);
}

/* Whether that signal waits, and SIGTERM does not; or, of 0, whether SIGTERM does. */
static bool waits(int number) {
  sigset_t now;
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
  return number ? sigismember(&now, number) && !sigismember(&now, SIGTERM)
                : sigismember(&now, SIGTERM);
}

/* As a jump does that leaves both. */
TEST_ONCE(signals_held_twice_are_released_at_once) {
  set_mask(SIGUSR2);
  nvmi_signals_hold();
  nvmi_signals_hold();
  CHECK(waits(0));
  nvmi_signals_release_all();
  CHECK(waits(SIGUSR2));
  set_mask(SIGUSR1); /* of the program, which holds nothing */
  nvmi_signals_release_all();
  CHECK(waits(SIGUSR1));
}

TEST_ONCE(signals_are_released_in_turn) {
  set_mask(SIGUSR2);
  for (unsigned i = 0; i < 2; i++) {
    sigset_t first = nvmi_signals_hold(), second = nvmi_signals_hold();
    nvmi_signals_release(&second);
    CHECK(waits(0));
    nvmi_signals_release(&first);
    CHECK(waits(SIGUSR2));
  }
  set_mask(SIGUSR1);
  nvmi_signals_release_all(); /* nothing is held */
  CHECK(waits(SIGUSR1));
  nvmi_signals_hold(); /* from here on another mask is the program's */
  nvmi_signals_release_all();
  CHECK(waits(SIGUSR1));
}

/* The jump has set a mask of its own. */
TEST_ONCE(signals_are_forgotten) {
  set_mask(SIGUSR2);
  nvmi_signals_hold();
  set_mask(SIGUSR1);
  nvmi_signals_forget();
  nvmi_signals_release_all();
  CHECK(waits(SIGUSR1));
}
