// Two load functions together: each leaves its own types behind.
// Issue: several load functions.
// Wrong: only the first one's types, or the second's when only the first is asked for.
// RUN: %scan --format=json --load loadA %s -- | %types --check-prefix=A
// RUN: %scan --format=json --load loadB %s -- | %types --check-prefix=B
// RUN: %scan --format=json --load loadA,loadB %s -- | %types --check-prefixes=A,B
#include <stdio.h>
#include <stdlib.h>

struct first { // A: first [[@LINE]]
  int a;
};
struct second { // B: second [[@LINE]]
  int b;
};
static struct first *first;
static struct second *second;

int loadA(FILE *f) {
  first = malloc(sizeof *first);
  return fread(first, sizeof *first, 1, f);
}
int loadB(FILE *f) {
  second = malloc(sizeof *second);
  return fread(&second->b, sizeof second->b, 1, f);
}
