// The chain of an object that hangs below another object which the load made: it must end at the
// global, not at some object "that existed before".
// Design: load function -> call -> allocation -> store -> root.
// Wrong: a chain that names no global although the load stores the root itself.
// RUN: %scan --load load %s -- | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

struct shelf {
  struct jar *jars;
};
// CHECK: :[[#@LINE + 1]]:8: remark: 'struct jar' is persistent
struct jar {
  int size;
  struct jar *next;
};
// CHECK-NOT: remark:
// CHECK: note: allocated here as 'struct jar'
// CHECK-NOT: existed before the load
// CHECK: note: reachable from global 'shelf' after the load
static struct shelf *shelf;

int load(FILE *f) {
  int size;
  shelf = calloc(1, sizeof *shelf);
  while (fread(&size, sizeof size, 1, f) == 1) {
    struct jar *j = malloc(sizeof *j);
    j->size = size;
    j->next = shelf->jars;
    shelf->jars = j;
  }
  return 0;
}
