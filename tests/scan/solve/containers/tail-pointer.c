// The list is built through a pointer to the link to fill next.
// Pointers to links, in the stack and in the heap.
// Wrong: 'step' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct step { // CHECK: step [[@LINE]]
  int direction;
  struct step *next;
};
struct route { // CHECK: route [[@LINE]]
  struct step *steps, **last;
};
static struct route *route;

int load(const char *path) {
  int c;
  FILE *f = fopen(path, "r");
  route = malloc(sizeof *route);
  route->steps = NULL;
  route->last = &route->steps;
  while ((c = getc(f)) != EOF) {
    struct step *s = malloc(sizeof *s);
    s->direction = c;
    s->next = NULL;
    *route->last = s;
    route->last = &s->next;
  }
  fclose(f);
  return 0;
}
