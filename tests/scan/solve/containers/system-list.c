// A list of a system library whose node type is visible, in a system header.
// FINDINGS: "containers of external libraries"; paper: only types "defined in the application source".
// Wrong: 'lib_node' reported, or 'member' missed behind it.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/a.c -- -isystem %t/include | %types
// CHECK: member a.c:[[#@LINE + 13]]

//--- include/lib.h
typedef struct lib_node {
  void *data;
  struct lib_node *next;
} lib_node;
lib_node *lib_prepend(lib_node *list, void *data);

//--- a.c
#include <lib.h>
#include <stdio.h>
#include <stdlib.h>
struct member {
  int id;
};
static lib_node *members;
static int oldest;
int load(FILE *f) {
  lib_node *n;
  int id;
  while (fscanf(f, "%d", &id) == 1) {
    struct member *m = malloc(sizeof *m);
    m->id = id;
    members = lib_prepend(members, m);
  }
  for (n = members; n; n = n->next)
    oldest = ((struct member *)n->data)->id;
  return 0;
}
