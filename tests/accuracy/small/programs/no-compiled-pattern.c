// A pattern is compiled when it is first used and kept; a helper of the loader, not of the data.
// load: log_import
// must: event
// never: pattern
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pattern { regex_t re; int uses; };
struct event { char stamp[20]; char *text; int level; struct event *next; };
static struct pattern *line_pattern;
static struct event *events, *newest;
static int matches(const char *line, regmatch_t m[4]) {
  if (!line_pattern) {
    line_pattern = calloc(1, sizeof *line_pattern);
    if (regcomp(&line_pattern->re, "^([0-9T:-]{19}) <([0-7])> (.*)$", REG_EXTENDED))
      abort();
  }
  line_pattern->uses++;
  return regexec(&line_pattern->re, line, 4, m, 0) == 0;
}
int log_import(const char *path) {
  char *line = NULL;
  size_t cap = 0;
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  while (getline(&line, &cap, f) > 0) {
    regmatch_t m[4];
    if (!matches(line, m))
      continue;
    struct event *e = calloc(1, sizeof *e);
    memcpy(e->stamp, line + m[1].rm_so, 19);
    e->level = line[m[2].rm_so] - '0';
    e->text = strdup(line + m[3].rm_so);
    if (newest)
      newest->next = e;
    else
      events = e;
    newest = e;
  }
  free(line);
  fclose(f);
  return 0;
}
