// A hand-made scanner calls begin and end handlers that get only the state.
// load: load_outline
// must: heading
// either: outline
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct heading { char *title; struct heading *parent, *first, *next; };
struct outline { struct heading *top, *current; };
static void begin_heading(struct outline *o) {
  struct heading *h = calloc(1, sizeof *h);
  h->parent = o->current;
  if (o->current) {
    h->next = o->current->first;
    o->current->first = h;
  } else {
    h->next = o->top;
    o->top = h;
  }
  o->current = h;
}
static void end_heading(struct outline *o) { o->current = o->current->parent; }
static void text(struct outline *o, const char *s) { if (o->current) o->current->title = strdup(s); }
void load_outline(struct outline *o, FILE *f) {
  char line[128];
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '{')
      begin_heading(o);
    else if (line[0] == '}')
      end_heading(o);
    else
      text(o, line);
  }
}
