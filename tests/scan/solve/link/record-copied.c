// A library and the program each have the list header in a header of their own; the records are one
// type, as C has it for units.
// Wrong: 'volume' missed: its hook is of the other header's type, so that no list keeps it.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/load.c %t/list.c -- | %types
// CHECK: volume load.c:[[#@LINE + 14]]

//--- program-list.h
struct link {
  struct link *next, *previous;
};
void linkInit(struct link *head);
void linkAdd(struct link *head, struct link *element);

//--- load.c
#include "program-list.h"
#include <stdio.h>
#include <stdlib.h>

struct volume {
  int number;
  struct link inGroup;
};
static struct link group;

int load(const char *path) {
  int number;
  FILE *f = fopen(path, "r");
  linkInit(&group);
  while (fscanf(f, "%d", &number) == 1) {
    struct volume *v = malloc(sizeof *v);
    v->number = number;
    linkAdd(&group, &v->inGroup);
  }
  fclose(f);
  return 0;
}

//--- library-list.h
/* The same, in the library. */
struct link {
  struct link *next, *previous;
};

//--- list.c
#include "library-list.h"
void linkInit(struct link *head) { head->next = head->previous = head; }
void linkAdd(struct link *head, struct link *element) {
  element->next = head;
  element->previous = head->previous;
  head->previous->next = element;
  head->previous = element;
}
