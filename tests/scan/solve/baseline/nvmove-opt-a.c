// --algorithm=nvmove, optimisation (a): "not parsing through application source functions that
// either accept no arguments, or accept only nonpointer built-in types".
// Wrong: 'queue' with (a), or missing without it; a struct by value counts as no built-in type.
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- | %types
// RUN: %scan --format=json --load load --algorithm=nvmove --nvmove-opts=bcd %s -- \
// RUN:   | %types --check-prefixes=CHECK,ALL
// RUN: %scan --format=json --load load --algorithm=nvmove --nvmove-opts=none %s -- \
// RUN:   | %types --check-prefixes=CHECK,ALL
#include <stdio.h>
#include <stdlib.h>

struct queue { // ALL: queue [[@LINE]]
  int fill;
};
struct pair { // CHECK: pair [[@LINE]]
  int first, second;
};
struct node { // CHECK: node [[@LINE]]
  int key;
  struct node *next;
};
static struct node *nodes;
static void *queues[4], *pairs[4];

static void *queueNew(int fill) {
  struct queue *q = malloc(sizeof *q);
  q->fill = fill;
  return q;
}
enum { FirstKey = 1 };
struct bounds { // either
  int low, high;
};
static void *pairNew(struct bounds b) {
  struct pair *p = malloc(sizeof *p);
  p->first = b.low;
  p->second = b.high;
  return p;
}

int load(FILE *f) {
  const struct bounds wide = {0, 100};
  struct node *n = malloc(sizeof *n);
  n->key = getc(f);
  nodes = n;
  queues[0] = queueNew(FirstKey);
  pairs[0] = pairNew(wide);
  return 0;
}
