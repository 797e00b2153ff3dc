// New records are sorted and merged into what is there.
// load: sync_events
// must: event
#include <stdio.h>
#include <stdlib.h>
struct event { long when; int kind; struct event *next; };
static struct event *calendar;
static struct event *merge(struct event *a, struct event *b) {
  struct event head, *t = &head;
  while (a && b) {
    struct event **least = a->when <= b->when ? &a : &b;
    t->next = *least;
    t = *least;
    *least = (*least)->next;
  }
  t->next = a ? a : b;
  return head.next;
}
int sync_events(FILE *f) {
  struct event *fresh = NULL;
  long when;
  int kind;
  while (fscanf(f, "%ld %d", &when, &kind) == 2) {
    struct event *e = malloc(sizeof *e);
    e->when = when;
    e->kind = kind;
    e->next = NULL;
    fresh = merge(fresh, e);
  }
  calendar = merge(calendar, fresh);
  return 0;
}
