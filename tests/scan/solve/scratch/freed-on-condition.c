// Duplicates are freed right after they were read; all others stay.
// "Conditional, ordered frees".
// Wrong: 'symbol' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol { // CHECK: symbol [[@LINE]]
  char name[32];
  long address;
  struct symbol *next;
};
static struct symbol *symbols[64];

static int add(struct symbol *s) {
  struct symbol **b = &symbols[s->name[0] & 63], *o;
  for (o = *b; o; o = o->next)
    if (!strcmp(o->name, s->name))
      return 0;
  s->next = *b;
  *b = s;
  return 1;
}
static struct symbol *read1(FILE *f) {
  struct symbol *s = malloc(sizeof *s);
  if (fscanf(f, "%31s %lx", s->name, &s->address) == 2)
    return s;
  free(s);
  return NULL;
}

int load(FILE *f) {
  struct symbol *s;
  while ((s = read1(f)))
    if (!add(s))
      free(s);
  return 0;
}
