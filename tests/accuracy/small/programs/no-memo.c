// A memo of a computed function is made on the way.
// load: load_sizes
// must: area
// never: memo
#include <stdio.h>
#include <stdlib.h>
struct area { int side; long square; struct area *next; };
struct memo { int n; long result; struct memo *next; };
static struct area *areas;
static struct memo *memos;
static long slow_square(int n) {
  long r = 0;
  for (int i = 0; i < n; i++)
    r += n;
  return r;
}
static long square(int n) {
  struct memo *m;
  for (m = memos; m; m = m->next)
    if (m->n == n)
      return m->result;
  m = malloc(sizeof *m);
  m->n = n;
  m->result = slow_square(n);
  m->next = memos;
  memos = m;
  return m->result;
}
void load_sizes(FILE *f) {
  int n;
  while (fscanf(f, "%d", &n) == 1) {
    struct area *a = malloc(sizeof *a);
    a->side = n;
    a->square = square(n);
    a->next = areas;
    areas = a;
  }
}
