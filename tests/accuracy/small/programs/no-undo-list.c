// Records that replace older ones: the old ones are freed.
// load: patch
// must: opt
// never: change
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct opt { char name[20]; int value; struct opt *next; };
struct change { struct opt *of; int before; struct change *prev; };
static struct opt *opts;
static struct opt *opt_of(const char *n) {
  struct opt *o;
  for (o = opts; o; o = o->next)
    if (!strcmp(o->name, n))
      return o;
  o = calloc(1, sizeof *o);
  strcpy(o->name, n);
  o->next = opts;
  return opts = o;
}
int patch(FILE *f) {
  struct change *log = NULL, *c;
  char n[20];
  int v, bad = 0;
  while (!bad && fscanf(f, "%19s %d", n, &v) == 2) {
    struct opt *o = opt_of(n);
    c = malloc(sizeof *c);
    c->of = o;
    c->before = o->value;
    c->prev = log;
    log = c;
    o->value = v;
    bad = v < 0;
  }
  for (; (c = log); free(c)) {
    if (bad)
      c->of->value = c->before;
    log = c->prev;
  }
  return bad;
}
