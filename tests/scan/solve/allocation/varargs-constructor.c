// Children are given to the constructor as variable arguments.
// Pointers that pass through va_arg.
// Wrong: 'literal' missed (it is reachable only through the arguments).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct literal { // CHECK: literal [[@LINE]]
  long value;
};
struct operation { // CHECK: operation [[@LINE]]
  int code, count;
  void *operands[4];
};
static struct operation *program[100];

static struct operation *operationNew(int code, int count, ...) {
  struct operation *o = malloc(sizeof *o);
  va_list operands;
  o->code = code;
  va_start(operands, count);
  for (o->count = 0; o->count < count; ++o->count)
    o->operands[o->count] = va_arg(operands, void *);
  va_end(operands);
  return o;
}
static struct literal *literal(FILE *f) {
  struct literal *l = malloc(sizeof *l);
  fscanf(f, "%ld", &l->value);
  return l;
}

int load(const char *path) {
  int c, n = 0;
  FILE *f = fopen(path, "r");
  while (n < 100 && (c = getc(f)) != EOF)
    program[n++] = operationNew(c, 2, literal(f), literal(f));
  fclose(f);
  return 0;
}
