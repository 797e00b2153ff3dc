// Lists that the load empties again, in the ordinary ways: the condition of the loop is what says so.
// A loop that is left by a break may leave something.
// Wrong: one of the 'gone' types reported; 'kept' missed.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct gone1 {
  int v;
  struct gone1 *up;
} *top1;
struct gone2 {
  int v;
  struct gone2 *up;
} *top2;
struct gone3 {
  int v;
  struct gone3 *up;
} *top3;
struct gone4 {
  int v;
  struct gone4 *up;
} *top4;
struct kept { // CHECK: kept [[@LINE]]
  int v;
  struct kept *up;
} *keep;
static void pop(void) {
  struct gone4 *t = top4;
  top4 = t->up;
  free(t);
}
#define PUSH(TYPE, TOP)                                                                            \
  do {                                                                                             \
    struct TYPE *n = malloc(sizeof *n);                                                            \
    n->v = v;                                                                                      \
    n->up = TOP;                                                                                   \
    TOP = n;                                                                                       \
  } while (0)
void load(FILE *f) {
  int v;
  while (fscanf(f, "%d", &v) == 1) {
    PUSH(gone1, top1);
    PUSH(gone2, top2);
    PUSH(gone3, top3);
    PUSH(gone4, top4);
    PUSH(kept, keep);
  }
  while (top1) {
    struct gone1 *t = top1;
    top1 = t->up;
    free(t);
  }
  for (struct gone2 *t; (t = top2);) {
    top2 = t->up;
    free(t);
  }
  while (top3 != NULL) {
    struct gone3 *n = top3->up;
    free(top3);
    top3 = n;
  }
  while (top4)
    pop();
  while (keep) {
    struct kept *t = keep;
    if (t->v == 7)
      break;
    keep = t->up;
    free(t);
  }
}
