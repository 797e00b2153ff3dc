// As logging.c, in a code base whose logger has no format attribute but takes a format and "...".
// FINDINGS: "logging and configuration code".
// Wrong: 'line' reported (it keeps the formatted input).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
  char text[200];
  struct line *next;
};
static struct line *recent;

void trace(const char *format, ...) {
  va_list values;
  struct line *l = malloc(sizeof *l);
  va_start(values, format);
  vsnprintf(l->text, sizeof l->text, format, values);
  va_end(values);
  l->next = recent;
  recent = l;
  fputs(l->text, stderr);
}

struct lease { // CHECK: lease [[@LINE]]
  unsigned address, until;
  struct lease *next;
};
static struct lease *leases;

int load(const char *path) {
  char text[64];
  FILE *f = fopen(path, "r");
  while (fgets(text, sizeof text, f)) {
    struct lease *l = malloc(sizeof *l);
    if (sscanf(text, "%u %u", &l->address, &l->until) != 2) {
      trace("unusable line: %s", text);
      free(l);
      continue;
    }
    l->next = leases;
    leases = l;
  }
  fclose(f);
  return 0;
}
