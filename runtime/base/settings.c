/* settings.c: see settings.h. */
#include "base/settings.h"

#include "base/basics.h"
#include "base/kill.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 4 };

struct setting {
  const char *name;
  enum { WORDS_KIND, NUMBER_KIND, BYTES_KIND, STEP_KIND, SYNC_KIND, TEXT_KIND } kind;
  const char *words[WORDS_MAX]; /* the first ones; the others are null */
  const char *what;             /* the number is */
  uint64_t least;
};

#define WORDS(...) .kind = WORDS_KIND, .words = {__VA_ARGS__}
#define NUMBER(from, text) .kind = NUMBER_KIND, .least = from, .what = text
#define BYTES(from) .kind = BYTES_KIND, .least = from
#define STEP .kind = STEP_KIND
#define SYNC .kind = SYNC_KIND
#define TEXT .kind = TEXT_KIND
#define SETTING(name, value, reader, meaning, without) {#name, value},
static const struct setting settings[] = {
#include "base/settings.def"
};

enum {
  SETTINGS = sizeof settings / sizeof *settings,
  SYNC_MS_MAX = 60000,  /* a minute: who may lose more may lose all */
  NAME_MAX_LENGTH = 40, /* of a name that may be a misspelt one */
  MISSPELT_MAX = 2      /* letters that are wrong */
};
static const char prefix[] = "NVMOVE_", of_tests[] = "NVMOVE_TEST_";
extern char **environ;

static const char *of_port_file(const char *name) {
  size_t length = strlen(name);
  for (const char *at = __nvm_port_settings; at && *at; at += strlen(at) + 1)
    if (strncmp(at, name, length) == 0 && at[length] == '=')
      return at + length + 1;
  return NULL;
}

const char *nvmi_setting(const char *name) {
  const char *value = getenv(name);
  if (!value)
    value = of_port_file(name);
  return value && *value ? value : NULL;
}

bool nvmi_setting_is(const char *name, const char *value) {
  const char *wish = nvmi_setting(name);
  return wish && strcmp(wish, value) == 0;
}

bool nvmi_read_number(const char *text, const char *units, uint64_t *number) {
  char *end;
  errno = 0;
  uint64_t read = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
  if (*text < '0' || *text > '9' || errno)
    return false;
  const char *unit = *end ? strchr(units, *end) : NULL;
  unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  if ((*end && (!unit || end[1])) || read > UINT64_MAX >> shift)
    return false;
  *number = read << shift;
  return true;
}

uint64_t nvmi_setting_number(const char *name) {
  uint64_t number = 0;
  const char *wish = nvmi_setting(name);
  return wish && nvmi_read_number(wish, "KMG", &number) ? number : 0;
}

static int check_word(const struct setting *s, const char *wish, const char *path) {
  const char *const *w = s->words;
  for (unsigned i = 0; i < WORDS_MAX && w[i]; i++)
    if (strcmp(wish, w[i]) == 0)
      return 0;
  char all[128] = "";
  size_t length = 0;
  for (unsigned i = 0; i < WORDS_MAX && w[i]; i++) {
    bool is_last = i + 1 == WORDS_MAX || !w[i + 1];
    length += (size_t)snprintf(all + length, sizeof all - length, "%s'%s'",
                               !i        ? ""
                               : is_last ? " or "
                                         : ", ",
                               w[i]);
  }
  return nvmi_fail(NVM_EARGUMENT, path, "%s=%s; it is %s%s", s->name, wish, all,
                   w[1] ? "" : ", or not set");
}

static int check(const struct setting *s, const char *wish, const char *path) {
  uint64_t number;
  switch (s->kind) {
  case WORDS_KIND:
    return check_word(s, wish, path);
  case NUMBER_KIND:
    if (nvmi_read_number(wish, "", &number) && number >= s->least)
      return 0;
    return nvmi_fail(NVM_EARGUMENT, path, "%s=%s; it is %s", s->name, wish, s->what);
  case BYTES_KIND:
    if (nvmi_read_number(wish, "KMG", &number) && number >= s->least)
      return 0;
    return nvmi_fail(
        NVM_EARGUMENT, path,
        "%s=%s; it is a number of bytes, %llu or more, or a number with K, M or G: 512M", s->name,
        wish, (unsigned long long)s->least);
  case STEP_KIND:
    if (nvmi_kill_is_step(wish))
      return 0;
    return nvmi_fail(NVM_EARGUMENT, path,
                     "%s=%s; it is KIND:N, N from 1 on, as commit:3 (runtime/base/kill.h)", s->name,
                     wish);
  case SYNC_KIND:
    if (strcmp(wish, "always") == 0 || strcmp(wish, "never") == 0 ||
        (nvmi_read_number(wish, "", &number) && number && number <= SYNC_MS_MAX))
      return 0;
    return nvmi_fail(NVM_EARGUMENT, path,
                     "%s=%s; it is 'always', 'never' or a number of milliseconds, 1 to %d", s->name,
                     wish, SYNC_MS_MAX);
  case TEXT_KIND:
    break;
  }
  return 0;
}

static unsigned least(unsigned a, unsigned b, unsigned c) {
  unsigned smaller = a < b ? a : b;
  return smaller < c ? smaller : c;
}

/* Letters to add, to leave out or to change, until one name is the other (Levenshtein). */
static unsigned distance(const char *a, size_t length, const char *b) {
  unsigned row[NAME_MAX_LENGTH + 1], width = (unsigned)strlen(b);
  for (unsigned j = 0; j <= width; j++)
    row[j] = j;
  for (unsigned i = 0; i < length; i++) {
    unsigned diagonal = row[0];
    row[0] = i + 1;
    for (unsigned j = 0; j < width; j++) {
      unsigned changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = least(changed, row[j] + 1, row[j + 1] + 1);
    }
  }
  return row[width];
}

static bool is_known(const char *name, size_t length) {
  for (size_t i = 0; i < SETTINGS; i++)
    if (strlen(settings[i].name) == length && memcmp(settings[i].name, name, length) == 0)
      return true;
  return length >= sizeof of_tests - 1 && memcmp(name, of_tests, sizeof of_tests - 1) == 0;
}

static const char *meant(const char *name, size_t length) {
  for (size_t i = 0; i < SETTINGS && length <= NAME_MAX_LENGTH; i++) {
    size_t known = strlen(settings[i].name);
    bool is_near = known <= length + MISSPELT_MAX && length <= known + MISSPELT_MAX;
    if (is_near && known <= NAME_MAX_LENGTH &&
        distance(name, length, settings[i].name) <= MISSPELT_MAX)
      return settings[i].name;
  }
  return NULL;
}

/* Without the prefix it is another's, unless it is nearly one of these; all of them begin with N. */
static int check_name(const char *name, size_t length, const char *path) {
  static _Atomic bool told;
  bool has_prefix = strncmp(name, prefix, sizeof prefix - 1) == 0;
  if (*name != *prefix || (has_prefix && is_known(name, length)))
    return 0;
  const char *near = meant(name, length);
  if (near)
    return nvmi_fail(NVM_EARGUMENT, path, "no setting is called %.*s; did you mean %s?",
                     (int)length, name, near);
  if (has_prefix && !atomic_exchange(&told, true))
    nvmi_tell("nvmove: no setting is called %.*s, so it has no effect; docs/reference/settings.md "
              "has all of them\n",
              (int)length, name);
  return 0;
}

int nvmi_settings_check(const char *path) {
  for (size_t i = 0; i < SETTINGS; i++) {
    const char *wish = nvmi_setting(settings[i].name);
    if (wish && check(&settings[i], wish, path))
      return -1;
  }
  for (char **each = environ; *each; each++)
    if (check_name(*each, strcspn(*each, "="), path))
      return -1;
  return 0;
}
