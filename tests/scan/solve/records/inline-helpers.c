// The code that builds the objects is in static inline functions and macros of a header that two
// units include.
// Static inline helpers from headers.
// Wrong: 'event' missed, reported twice, or with a place in the unit instead of the header.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/a.c %t/b.c -- | %types
// CHECK: event event.h:[[#@LINE + 7]]

//--- event.h
#ifndef EVENT_H
#define EVENT_H
#include <stdio.h>
#include <stdlib.h>
struct event {
  int when, what;
  struct event *next;
};
extern struct event *events;
static inline struct event *eventNew(int when, int what) {
  struct event *e = malloc(sizeof *e);
  e->when = when;
  e->what = what;
  e->next = NULL;
  return e;
}
static inline void eventAdd(struct event *e) {
  e->next = events;
  events = e;
}
#endif

//--- a.c
#include "event.h"
struct event *events;
int load(const char *path) {
  int when, what;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d %d", &when, &what) == 2)
    eventAdd(eventNew(when, what));
  fclose(f);
  return 0;
}

//--- b.c
#include "event.h"
void later(int when) { eventAdd(eventNew(when, 0)); }
