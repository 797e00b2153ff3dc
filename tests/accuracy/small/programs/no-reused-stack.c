// An evaluator keeps its stack between calls to save malloc; only the totals stay.
// load: totals_load
// must: total
// never: slot
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct total { char *name; double value; struct total *next; };
struct slot { double v; char op; };
static struct total *totals;
static struct slot *stack;
static int depth, room;
static void push(double v, char op) {
  if (depth == room)
    stack = realloc(stack, (room += 32) * sizeof *stack);
  stack[depth].v = v;
  stack[depth++].op = op;
}
static double evaluate(const char *s) {
  depth = 0;
  for (; *s; s++)
    if (isdigit((unsigned char)*s)) {
      char *end;
      push(strtod(s, &end), 0);
      s = end - 1;
    } else if (*s == '+' && depth > 1) {
      stack[depth - 2].v += stack[depth - 1].v;
      depth--;
    }
  return depth ? stack[0].v : 0;
}
void totals_load(FILE *f) {
  char name[32], expr[200];
  while (fscanf(f, "%31s %199[^\n]", name, expr) == 2) {
    struct total *t = malloc(sizeof *t);
    t->name = strdup(name);
    t->value = evaluate(expr);
    t->next = totals;
    totals = t;
  }
}
