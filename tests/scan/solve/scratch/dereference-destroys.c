// A reference-counting "dereference" that is given the address of a pointer calls a destroy hook and
// frees: what the hooks do with their connections is no part of the load.
// Wrong: 'goodbye' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thing { // CHECK: thing [[@LINE]]
  int references;
  void (*destroy)(struct thing *);
  char name[32];
  struct thing *next;
};
struct goodbye {
  char name[32];
  struct goodbye *next;
};
static struct thing *things;
static struct goodbye *outgoing;

static void sayGoodbye(struct thing *t) {
  struct goodbye *g = malloc(sizeof *g);
  memcpy(g->name, t->name, sizeof g->name);
  g->next = outgoing;
  outgoing = g;
}
static int dereference(struct thing **t) {
  if (--(*t)->references == 0) {
    if ((*t)->destroy)
      (*t)->destroy(*t);
    free(*t);
  }
  *t = NULL;
  return 0;
}

int load(const char *path) {
  char line[32];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct thing *t = calloc(1, sizeof *t);
    t->references = 2;
    t->destroy = sayGoodbye;
    strcpy(t->name, line);
    t->next = things;
    things = t;
    dereference(&t);
  }
  fclose(f);
  return 0;
}
