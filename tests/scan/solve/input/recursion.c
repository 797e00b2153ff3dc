// A recursive reader over untyped nodes, through a table of itself.
// Recursion; calls through pointers that lead back.
// Wrong: never ends, or 'sequence' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

typedef void *(*node_reader)(FILE *f, int depth);
struct number { // CHECK: number [[@LINE]]
  long value;
};
struct sequence { // CHECK: sequence [[@LINE]]
  int length;
  void *items[];
};
static void *readNumber(FILE *f, int depth);
static void *readSequence(FILE *f, int depth);
static const node_reader readers[] = {readNumber, readSequence};
static void *root;

static void *readNode(FILE *f, int depth) {
  int kind = getc(f);
  return kind < 0 || kind > 1 || depth > 100 ? NULL : readers[kind](f, depth + 1);
}
static void *readNumber(FILE *f, int depth) {
  struct number *n = malloc(sizeof *n);
  (void)depth;
  fread(&n->value, sizeof n->value, 1, f);
  return n;
}
static void *readSequence(FILE *f, int depth) {
  int length = getc(f), i;
  struct sequence *s = malloc(sizeof *s + length * sizeof(void *));
  s->length = length;
  for (i = 0; i < length; ++i)
    s->items[i] = readNode(f, depth);
  return s;
}

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  root = readNode(f, 0);
  fclose(f);
  return 0;
}
