// Arguments of the program lie in no pool: a field that leads to one is volatile, in the data and in a variable.
//
// RUN: rm -rf %t && mkdir %t && cd %t && %plan --load load %s -- > port.yaml && FileCheck --input-file=port.yaml %s
// RUN: cd %t && %cc -O2 --nvmove-port=port.yaml %s -o arguments
// RUN: cd %t && env NVMOVE_METHOD=undo NVMOVE_POOL=%t/undo.pool ./arguments red ada | FileCheck --check-prefix=FIRST %s
// RUN: cd %t && env NVMOVE_METHOD=undo NVMOVE_POOL=%t/undo.pool ./arguments blue bob | FileCheck --check-prefix=AGAIN %s
// RUN: cd %t && env NVMOVE_METHOD=shadow NVMOVE_POOL=%t/shadow.pool ./arguments red ada | FileCheck --check-prefix=FIRST %s
// RUN: cd %t && env NVMOVE_METHOD=shadow NVMOVE_POOL=%t/shadow.pool ./arguments blue bob | FileCheck --check-prefix=AGAIN %s
//
// CHECK-DAG: # QUESTION: guest.invited_by gets a pointer to an argument of the program {{.*}}arguments.c:4
// CHECK-DAG: # QUESTION: the variable house lies in the pool, and house.colour gets
// CHECK: fields:
// CHECK: volatile:
// CHECK-DAG: - guest.invited_by
// CHECK-DAG: - house.colour
// FIRST: red 1
// AGAIN: blue 2
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct house;
struct guest { struct guest *next; struct house *at; const char *invited_by; char *name; };
struct house { struct guest *first; int count; const char *colour; };
static struct house house;

static struct guest *arrives(const char *name) {
  struct guest *made = calloc(1, sizeof *made);
  made->name = strdup(name);
  made->at = &house;
  made->next = house.first;
  house.first = made;
  ++house.count;
  return made;
}
static void load(void) {
  FILE *f = fopen("guests", "r");
  char line[80];
  while (f && fgets(line, sizeof line, f))
    arrives(line);
}
static void answer(void) { printf("%s %d\n", house.colour, house.count), fflush(stdout); }
int main(int argc, char **argv) {
  house.colour = argc > 1 ? argv[1] : "white";
  load();
  arrives("eve")->invited_by = argv[2];
  answer();
  return 0;
}
