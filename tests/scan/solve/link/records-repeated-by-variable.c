// Each file repeats the records, as programs without headers do; a variable that the one declares and the
// other defines says that they are one. Its own members are one with it.
// Wrong: 'first' missed, stored where nobody looks.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/read.c %t/keep.c -- | %types
// RUN: %scan --format=json --load load %t/keep.c %t/read.c -- | %types
// CHECK: first keep.c:[[#@LINE + 3]]

//--- keep.c
struct first {
  int v;
  struct first *next;
};
struct table {
  int n;
  struct first *list;
} W;

//--- read.c
#include <stdio.h>
#include <stdlib.h>
struct first {
  int v;
  struct first *next;
};
struct table {
  int n;
  struct first *list;
};
extern struct table W;
void load(FILE *f) {
  int v;
  while (fscanf(f, "%d", &v) == 1) {
    struct first *x = malloc(sizeof *x);
    x->v = v;
    x->next = W.list;
    W.list = x;
  }
}
