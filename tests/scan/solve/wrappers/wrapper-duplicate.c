// The object is built in a local and duplicated by a function that copies any memory.
// Allocation wrappers: with content (pointer + size).
// Wrong: 'spot' missed; it is no scratch because it was seen on the stack first.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *duplicate(const void *from, size_t size) {
  void *to = malloc(size);
  return to ? memcpy(to, from, size) : NULL;
}

struct owner { // CHECK: owner [[@LINE]]
  char name[12];
};
struct spot { // CHECK: spot [[@LINE]]
  int x, y;
  struct owner *owner;
};
static struct spot *spots[100];

int load(FILE *f) {
  struct spot s;
  struct owner o;
  int n = 0;
  while (n < 100 && fscanf(f, "%d %d %11s", &s.x, &s.y, o.name) == 3) {
    s.owner = duplicate(&o, sizeof o);
    spots[n++] = duplicate(&s, sizeof s);
  }
  return 0;
}
