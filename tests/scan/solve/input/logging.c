// Messages about what is loaded are formatted, kept in a ring and handed to a sink.
// FINDINGS: "logging and configuration code"; rule 8: "Logging (format attribute) is cut".
// Wrong: 'message' or 'sink' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct message {
  time_t when;
  int level;
  char *text;
  struct message *next;
};
struct sink {
  FILE *file;
  struct message *last;
};
static struct sink *sink;

static void vnote(int level, const char *format, va_list values) {
  struct message *m = malloc(sizeof *m);
  char text[256];
  vsnprintf(text, sizeof text, format, values);
  if (!sink)
    sink = calloc(1, sizeof *sink);
  m->text = strdup(text);
  m->level = level;
  m->when = time(NULL);
  m->next = sink->last;
  sink->last = m;
}
__attribute__((format(printf, 2, 3))) void note(int level, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vnote(level, format, values);
  va_end(values);
}

struct route { // CHECK: route [[@LINE]]
  unsigned from, to;
  struct route *next;
};
static struct route *routes;

int load(const char *path) {
  unsigned from, to;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%x %x", &from, &to) == 2) {
    struct route *r = malloc(sizeof *r);
    r->from = from;
    r->to = to;
    r->next = routes;
    routes = r;
    note(1, "route from %x to %x", from, to);
  }
  fclose(f);
  return 0;
}
