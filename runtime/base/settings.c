/* settings.c: a misspelt value is an error, not silence: with NVMOVE_OPEN=cpy the file would be
 * written.
 */
#include "base/settings.h"

#include "base/basics.h"

#include <stdlib.h>
#include <string.h>

/* Two values, or one, or none: a number from `least` on. */
struct setting {
  const char *name, *first, *second, *number;
  unsigned long long least;
};

static const struct setting settings[] = {
    {.name = "NVMOVE_DOMAIN", .first = "process", .second = "power"},
    {.name = "NVMOVE_METHOD", .first = "undo", .second = "shadow"},
    {.name = "NVMOVE_STATS", .first = "0", .second = "1"},
    {.name = "NVMOVE_POINTERS", .first = "0", .second = "1"},
    {.name = "NVMOVE_COLLECT", .first = "0", .second = "1"},
    {.name = "NVMOVE_OPEN", .first = "copy"},
    {.name = "NVMOVE_DEBUG", .first = "compare", .second = "roots"},
    {.name = "NVMOVE_BASE", .number = "an address, as 0x7e8040000000"},
    {.name = "NVMOVE_THREADS", .number = "a number of threads, 1 or more", .least = 1},
    {.name = "NVMOVE_TRACE_MAX", .number = "a number of bytes"},
};

bool nvmi_setting_is(const char *name, const char *value) {
  const char *wish = getenv(name);
  return wish && strcmp(wish, value) == 0;
}

static bool is_number(const char *wish, unsigned long long least) {
  char *end;
  unsigned long long number = strtoull(wish, &end, 0);
  return *wish >= '0' && *wish <= '9' && !*end && number >= least;
}

static int check(const struct setting *s, const char *wish, const char *path) {
  if (s->number)
    return is_number(wish, s->least)
               ? 0
               : nvmi_fail(NVM_EARGUMENT, path, "%s=%s; it is %s", s->name, wish, s->number);
  if (strcmp(wish, s->first) == 0 || (s->second && strcmp(wish, s->second) == 0))
    return 0;
  if (!s->second)
    return nvmi_fail(NVM_EARGUMENT, path, "%s=%s; it is '%s', or not set", s->name, wish, s->first);
  return nvmi_fail(NVM_EARGUMENT, path, "%s=%s; it is '%s' or '%s'", s->name, wish, s->first,
                   s->second);
}

int nvmi_settings_check(const char *path) {
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    const char *wish = getenv(settings[i].name);
    if (wish && *wish && check(&settings[i], wish, path))
      return -1;
  }
  return 0;
}
