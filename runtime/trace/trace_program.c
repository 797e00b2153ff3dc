/* trace_program.c: what a trace says of the program beside what it does to the pool. It may be known
 * before the trace begins.
 *
 * Sources that nvmove-cc has compiled without --nvmove-trace: what they store outside transactions
 * and print the trace does not have. A constructor of the program, and of each library, tells of those
 * in it. And that the program has made a socket: then others may not do the same a second time.
 */
#include "trace/trace_program.h"

#include "trace/trace_file.h"
#include "trace/trace_outputs.h"

#include "base/own_locks.h"
#include "base/settings.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 64, NAME_BYTES = 256 };

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_TRACE];
static char names[NAMES_MAX][NAME_BYTES];
static unsigned known;
static atomic_bool has_socket;

static void put(const char *name) {
  nvmi_trace_put(0, NVM_TRACE_UNTRACED, 0, 0, name, strlen(name) + 1);
}

static void put_socket(void) { nvmi_trace_put(0, NVM_TRACE_SOCKET, 0, 0, NULL, 0); }

void nvmi_trace_program(void) {
  for (unsigned i = 0; i < known; i++)
    put(names[i]);
  if (has_socket)
    put_socket();
}

/* Further ones are not told of. */
static void add(const char *name) {
  if (known == NAMES_MAX)
    return;
  snprintf(names[known], NAME_BYTES, "%s", name);
  if (nvmi_trace_file_is_open())
    put(names[known]);
  known++;
}

void __nvm_describe_untraced(const char *Begin, const char *End) {
  if (!nvmi_setting("NVMOVE_TRACE"))
    return;
  nvmi_lock(lock);
  for (const char *at = Begin; at < End; at += strlen(at) + 1)
    if (*at)
      add(at);
  nvmi_unlock(lock);
}

void nvmi_trace_socket(void) {
  if (has_socket || !nvmi_setting("NVMOVE_TRACE"))
    return;
  nvmi_lock(lock);
  if (!atomic_exchange(&has_socket, true) && nvmi_trace_file_is_open())
    put_socket();
  nvmi_unlock(lock);
}
