// A builder record on the stack gathers nodes that it allocates without input.
// load: load_poly
// must: term
// never: builder
#include <stdio.h>
#include <stdlib.h>
struct term { int power; double factor; struct term *next; };
struct builder { struct term *first, *last; int count; };
static void open_term(struct builder *b) {
  struct term *t = calloc(1, sizeof *t);
  if (b->last)
    b->last->next = t;
  else
    b->first = t;
  b->last = t;
  b->count++;
}
struct term *load_poly(FILE *f) {
  struct builder b = {0};
  double factor;
  int power;
  while (fscanf(f, "%lf x^%d", &factor, &power) == 2) {
    open_term(&b);
    b.last->factor = factor;
    b.last->power = power;
  }
  return b.first;
}
