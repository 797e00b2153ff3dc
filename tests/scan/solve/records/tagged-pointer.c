// The link to the parent is kept in an integer together with a color bit.
// Pointers stored as integers.
// Wrong: 'owner' missed (it is reachable through the integer only).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct owner { // CHECK: owner [[@LINE]]
  int id;
};
struct item { // CHECK: item [[@LINE]]
  uintptr_t ownerAndColor;
  int key;
  struct item *next;
};
static struct item *items;

static struct owner *ownerOf(const struct item *i) {
  return (struct owner *)(i->ownerAndColor & ~(uintptr_t)1);
}

int load(FILE *f) {
  int key, color;
  while (fscanf(f, "%d %d", &key, &color) == 2) {
    struct item *i = malloc(sizeof *i);
    struct owner *o = malloc(sizeof *o);
    i->ownerAndColor = (uintptr_t)o | (color & 1);
    i->key = key;
    ownerOf(i)->id = key;
    i->next = items;
    items = i;
  }
  return 0;
}
