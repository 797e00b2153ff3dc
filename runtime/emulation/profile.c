/* profile.c: see profile.h. */
#include "emulation/profile.h"

#include "base/settings.h"

#include "nvmove/emulation.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above, a number is a mistake: no memory takes a millisecond. */
enum { NANOSECONDS_MAX = 1000000, CACHE_DEFAULT = 32 << 20, CACHE_MIN = 64 << 10 };
#define MEGABYTES_MAX UINT64_C(10000000)

#define PROFILE(name, read, write, clwb, commit, bandwidth, source)                                \
  {name, read, write, clwb, commit, bandwidth, 0, NVMI_WORST, false},
static const struct nvmi_profile profiles[] = {
#include "nvmove/profiles.def"
};

static const struct number {
  const char *name, *unit;
  size_t place;
  uint64_t least, most;
} numbers[] = {
    {"read", "nanoseconds", offsetof(struct nvmi_profile, read), 0, NANOSECONDS_MAX},
    {"write", "nanoseconds", offsetof(struct nvmi_profile, write), 0, NANOSECONDS_MAX},
    {"clwb", "nanoseconds", offsetof(struct nvmi_profile, clwb), 0, NANOSECONDS_MAX},
    {"commit", "nanoseconds", offsetof(struct nvmi_profile, commit), 0, NANOSECONDS_MAX},
    {"bandwidth", "megabytes a second", offsetof(struct nvmi_profile, bandwidth), 0, MEGABYTES_MAX},
    {"cache", "bytes", offsetof(struct nvmi_profile, cache), CACHE_MIN, UINT64_C(16) << 30},
};

struct reading {
  struct nvmi_profile *profile;
  char *fault;
  unsigned size;
};

static bool take_number(const struct reading *r, const struct number *n, const char *value) {
  uint64_t number;
  if (!nvmi_read_number(value, "KMG", &number) || number < n->least || number > n->most) {
    snprintf(r->fault, r->size, "%s=%s; it is a number of %s from %llu to %llu", n->name, value,
             n->unit, (unsigned long long)n->least, (unsigned long long)n->most);
    return false;
  }
  memcpy((char *)r->profile + n->place, &number, sizeof number);
  return true;
}

static bool take_setting(const struct reading *r, const char *name, const char *value) {
  if (strcmp(name, "model") == 0) {
    r->profile->model = strcmp(value, "cached") == 0 ? NVMI_CACHED : NVMI_WORST;
    if (r->profile->model == NVMI_CACHED || strcmp(value, "worst") == 0)
      return true;
    snprintf(r->fault, r->size, "model=%s; it is 'worst' or 'cached'", value);
    return false;
  }
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strcmp(numbers[i].name, name) == 0)
      return take_number(r, &numbers[i], value);
  snprintf(r->fault, r->size,
           "%s=%s; the settings are read, write, clwb, commit, bandwidth, cache and model", name,
           value);
  return false;
}

static bool take_profile(const struct reading *r, const char *name) {
  size_t length = 0;
  for (unsigned i = 0; i < sizeof profiles / sizeof *profiles; i++)
    if (strcmp(profiles[i].name, name) == 0) {
      uint64_t cache = r->profile->cache;
      *r->profile = profiles[i];
      r->profile->cache = cache;
      return true;
    }
  length = (size_t)snprintf(r->fault, r->size, "'%s' is no profile; there are", name);
  for (unsigned i = 0; i < sizeof profiles / sizeof *profiles && length < r->size; i++)
    length += (size_t)snprintf(r->fault + length, r->size - length, "%s %s", i ? "," : "",
                               profiles[i].name);
  return false;
}

static uint64_t cache_of_machine(void) {
  long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes >= CACHE_MIN ? (uint64_t)bytes : CACHE_DEFAULT;
}

bool nvmi_profile_read(const char *text, struct nvmi_profile *profile, char *fault, unsigned size) {
  char part[128];
  bool is_first = true;
  *profile = (struct nvmi_profile){.name = "own", .cache = cache_of_machine()};
  struct reading r = {profile, fault, size};
  for (const char *at = text, *end; *at; at = *end ? end + 1 : end, is_first = false) {
    end = at + strcspn(at, ",");
    if ((size_t)(end - at) >= sizeof part) {
      snprintf(fault, size, "'%.20s...' is too long", at);
      return false;
    }
    memcpy(part, at, (size_t)(end - at));
    part[end - at] = 0;
    char *value = strchr(part, '=');
    if (value)
      *value++ = 0;
    if (!value && strcmp(part, "virtual") == 0)
      profile->is_virtual = true;
    else if (!value && !is_first) {
      snprintf(fault, size, "'%s' stands behind the profile; a setting is NAME=VALUE, or 'virtual'",
               part);
      return false;
    } else if (value ? !take_setting(&r, part, value) : !take_profile(&r, part))
      return false;
  }
  return true;
}

bool nvmi_profile_has_memory(const char *text) {
  static const char *const how[] = {"virtual", "model=", "cache="};
  for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',') {
    bool is_how = false;
    for (unsigned i = 0; i < sizeof how / sizeof *how; i++)
      is_how = is_how || strncmp(at, how[i], strlen(how[i])) == 0;
    if (!is_how)
      return true;
  }
  return false;
}

const char *nvm_emulation_fault(const char *profile) {
  static _Thread_local char fault[256];
  struct nvmi_profile made;
  return nvmi_profile_read(profile, &made, fault, sizeof fault) ? NULL : fault;
}
