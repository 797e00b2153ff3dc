/* late_sync.c: see late_sync.h. */
#define _GNU_SOURCE
#include "platform/late_sync.h"

#include "base/own_threads.h"
#include "base/signals.h"
#include "base/uncancelled.h"
#include "platform/sync.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct late {
  unsigned ms;
  bool runs;
  pthread_t thread;
  _Atomic uint32_t asked; /* futex: 1: for a sync that has not begun */
  _Atomic uint32_t ends;  /* futex: 1: the thread is to end */
} all[NVMI_SYNCED_MAX];

static void wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void await(_Atomic uint32_t *word, const struct timespec *patience) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, patience, NULL, 0);
}

/* The kernel may end a wait too early: then a sync is asked for that has no record to bring, and does
 * nothing (delayed.c). */
static void *sync_late(void *argument) {
  struct late *late = argument;
  struct timespec delay = {late->ms / 1000, late->ms % 1000 * 1000000L};
  const struct timespec look = {0, NVMI_OWN_THREAD_LOOKS_MS * 1000000L};
  while (!late->ends) {
    await(&late->asked, &look);
    nvmi_own_thread_looks();
    if (!late->asked)
      continue;
    await(&late->ends, &delay);
    if (late->ends)
      break;
    late->asked = 0; /* before the sync: who asks from now on may come too late for it */
    nvmi_sync_records((unsigned)(late - all));
  }
  return NULL;
}

/* Signals are the program's: they go to its threads. */
int nvmi_late_sync_start(unsigned index, unsigned ms) {
  struct late *late = &all[index];
  late->ms = ms;
  late->asked = late->ends = 0;
  if (!ms)
    return 0;
  sigset_t before = nvmi_signals_hold();
  int error = pthread_create(&late->thread, NULL, sync_late, late);
  nvmi_signals_release(&before);
  late->runs = !error;
  if (!error)
    nvmi_own_thread_began();
  errno = error;
  return error ? -1 : 0;
}

void nvmi_late_sync_stop(unsigned index) {
  struct late *late = &all[index];
  if (!late->runs)
    return;
  nvmi_own_thread_ends();
  late->ends = late->asked = 1;
  wake(&late->ends);
  wake(&late->asked);
  NVMI_UNCANCELLED(pthread_join(late->thread, NULL)); /* not where that thread calls exit */
  late->runs = false;
}

/* The exchange is a fence: a record that this thread has put into the page cache is there for a sync
 * that begins behind it. */
void nvmi_late_sync_ask(unsigned index) {
  struct late *late = &all[index];
  if (late->runs && !atomic_exchange(&late->asked, 1))
    wake(&late->asked);
}

void nvmi_late_sync_in_child(unsigned index) { all[index].runs = false; }
