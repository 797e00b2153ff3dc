// Objects come from a free list in a global variable, which a helper refills.
// Wrong: 'object' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object { // CHECK: object [[@LINE]]
  char name[20];
  struct object *next;
};
static struct object *unused, *objects;

static void refill(void) {
  unused = calloc(1, sizeof *unused);
}

static struct object *take(void) {
  struct object *first;
  if (!unused)
    refill();
  first = unused;
  unused = first->next;
  return first;
}

void load(const char *path) {
  char line[20];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct object *made = take();
    strcpy(made->name, line);
    made->next = objects;
    objects = made;
  }
  fclose(f);
}
