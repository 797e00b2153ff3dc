// Constructors that take nothing, or numbers only.
// FINDINGS: "The paper's optimisation (a) (skip functions without pointer arguments) cuts
// constructors".
// Wrong: 'queue' or 'chunk' missed by the default algorithm.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct chunk { // CHECK: chunk [[@LINE]]
  int used;
  unsigned char bytes[120];
  struct chunk *next;
};
struct queue { // CHECK: queue [[@LINE]]
  struct chunk *first, *last;
  int fill;
};
static struct queue *history;

static struct queue *queueNew(int fill) {
  struct queue *q = malloc(sizeof *q);
  q->first = q->last = NULL;
  q->fill = fill;
  return q;
}
static struct chunk *chunkNew(void) {
  struct chunk *c = malloc(sizeof *c);
  c->used = 0;
  c->next = NULL;
  return c;
}
static void append(struct queue *q, struct chunk *c) {
  if (q->last)
    q->last->next = c;
  else
    q->first = c;
  q->last = c;
}

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  int used;
  history = queueNew(8);
  while (fread(&used, sizeof used, 1, f) == 1) {
    struct chunk *c = chunkNew();
    c->used = used;
    fread(c->bytes, 1, used, f);
    append(history, c);
  }
  fclose(f);
  return 0;
}
