// A reusable ini reader calls a handler for each pair; the caller's handler keeps what it wants.
// load: settings_read
// must: profile
// either: settings
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
typedef int (*ini_handler)(void *user, const char *section, const char *name, const char *value);
static char *rstrip(char *s) {
  char *p = s + strlen(s);
  while (p > s && isspace((unsigned char)*--p))
    *p = '\0';
  return s;
}
static char *lskip(const char *s) {
  while (*s && isspace((unsigned char)*s))
    s++;
  return (char *)s;
}
int ini_parse_file(FILE *file, ini_handler handler, void *user) {
  char line[512], section[64] = "";
  int lineno = 0, error = 0;
  while (fgets(line, sizeof line, file)) {
    lineno++;
    char *start = lskip(rstrip(line));
    if (*start == ';' || *start == '#')
      continue;
    if (*start == '[') {
      char *end = strchr(start, ']');
      if (end) {
        *end = '\0';
        strncpy(section, start + 1, sizeof section - 1);
      } else if (!error)
        error = lineno;
    } else if (*start) {
      char *end = strchr(start, '=');
      if (end) {
        *end = '\0';
        if (!handler(user, section, rstrip(start), lskip(end + 1)) && !error)
          error = lineno;
      }
    }
  }
  return error;
}
struct profile { char name[32]; char *shell; int columns, rows; struct profile *next; };
struct settings { struct profile *profiles; int nprofiles; char *active; };
static struct profile *profile_named(struct settings *s, const char *name) {
  for (struct profile *p = s->profiles; p; p = p->next)
    if (!strcasecmp(p->name, name))
      return p;
  struct profile *p = calloc(1, sizeof(struct profile));
  strncpy(p->name, name, sizeof p->name - 1);
  p->next = s->profiles;
  s->profiles = p;
  s->nprofiles++;
  return p;
}
static int on_pair(void *user, const char *section, const char *name, const char *value) {
  struct settings *s = user;
  if (!strcmp(section, "general")) {
    if (!strcmp(name, "active"))
      s->active = strdup(value);
    return 1;
  }
  struct profile *p = profile_named(s, section);
  if (!strcmp(name, "shell"))
    p->shell = strdup(value);
  else if (!strcmp(name, "columns"))
    p->columns = atoi(value);
  else if (!strcmp(name, "rows"))
    p->rows = atoi(value);
  else
    return 0;
  return 1;
}
int settings_read(const char *path, struct settings *out) {
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  int rc = ini_parse_file(f, on_pair, out);
  fclose(f);
  return rc;
}
