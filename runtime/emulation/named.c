/* named.c: the persistent types that were named, and whether some source knows them: see emulation.h. */

#include "emulation/named.h"

#include "base/basics.h"
#include "base/own_locks.h"

#include <stdio.h>

enum { TYPES_MAX = 512, NAME_BYTES = 64, SHOWN = 8 };

static struct type {
  char name[NAME_BYTES];
  bool is_known;
} types[TYPES_MAX];
static unsigned count;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_DESCRIBED];

/* Longer names are cut, further ones are left out. */
static void take(const char *name, bool is_known) {
  unsigned i = 0;
  while (i < count && strncmp(types[i].name, name, NAME_BYTES - 1) != 0)
    i++;
  if (i == TYPES_MAX)
    return;
  if (i == count) {
    snprintf(types[count].name, NAME_BYTES, "%s", name);
    count++;
  }
  types[i].is_known |= is_known;
}

void nvmi_emulation_named(const char *list) {
  nvmi_lock(lock);
  for (; *list; list += strlen(list) + 1)
    take(list + 1, *list == '+');
  nvmi_unlock(lock);
}

void nvmi_emulation_tell_unknown(void) {
  char text[SHOWN * (NAME_BYTES + 2) + 1] = "";
  unsigned unknown = 0;
  size_t used = 0;
  for (unsigned i = 0; i < count; i++)
    if (!types[i].is_known && unknown++ < SHOWN)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                               types[i].name);
  if (unknown)
    nvmi_tell("nvmove: --emulate-types: no source knows %s%s; are they of this program?\n", text,
              unknown > SHOWN ? ", ..." : "");
}
