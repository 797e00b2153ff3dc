// Scratch cells are recycled through a free list.
// load: load_formulas
// must: formula
// never: opcell
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct formula { char *text; long value; struct formula *next; };
struct opcell { long v; struct opcell *below; };
static struct formula *formulas;
static struct opcell *spare;
static struct opcell *cell_get(void) {
  struct opcell *c = spare;
  if (c)
    spare = c->below;
  else
    c = malloc(sizeof *c);
  return c;
}
static void cell_put(struct opcell *c) { c->below = spare; spare = c; }
static long evaluate(const char *s) {
  struct opcell *top = NULL, *c;
  long r = 0;
  for (; *s; s++)
    if (isdigit((unsigned char)*s)) {
      c = cell_get();
      c->v = *s - '0';
      c->below = top;
      top = c;
    } else if (*s == '+' && top && top->below) {
      c = top;
      top = c->below;
      top->v += c->v;
      cell_put(c);
    }
  while ((c = top)) {
    r = c->v;
    top = c->below;
    cell_put(c);
  }
  return r;
}
void load_formulas(FILE *f) {
  char line[200];
  while (fgets(line, sizeof line, f)) {
    struct formula *m = malloc(sizeof *m);
    m->text = strdup(line);
    m->value = evaluate(line);
    m->next = formulas;
    formulas = m;
  }
}
