// Open brackets are a stack that is empty at the end.
// load: load_scheme
// must: sexp
// never: open
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct sexp { char *atom; struct sexp *car, *cdr; };
struct open { struct sexp *list; struct open *outer; };
static struct sexp *program;
static struct open *stack;
static void pop(void) {
  struct open *o = stack;
  stack = o->outer;
  free(o);
}
void load_scheme(FILE *f) {
  char w[64];
  while (fscanf(f, "%63s", w) == 1) {
    if (w[0] == '(') {
      struct open *o = malloc(sizeof *o);
      o->list = NULL;
      o->outer = stack;
      stack = o;
    } else if (w[0] == ')' && stack) {
      program = stack->list;
      pop();
    } else if (stack) {
      struct sexp *s = calloc(1, sizeof *s);
      s->atom = strdup(w);
      s->cdr = stack->list;
      stack->list = s;
    }
  }
  while (stack)
    pop();
}
