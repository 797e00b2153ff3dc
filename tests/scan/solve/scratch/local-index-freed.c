// As index-freed.c, but the index never leaves the load function.
// FINDINGS: "indexes freed when the load ends".
// Wrong: 'lookup' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct part { // CHECK: part [[@LINE]]
  int id;
  struct part *whole;
};
struct lookup {
  struct part **parts;
  int room;
};
static struct part *all[512];

int load(FILE *f) {
  struct lookup *l = malloc(sizeof *l);
  int id, whole, n = 0;
  l->room = 512;
  l->parts = calloc(l->room, sizeof *l->parts);
  while (fscanf(f, "%d %d", &id, &whole) == 2 && id < l->room) {
    struct part *p = malloc(sizeof *p);
    p->id = id;
    p->whole = l->parts[whole];
    l->parts[id] = p;
    all[n++] = p;
  }
  free(l->parts);
  free(l);
  return 0;
}
