// The actions of a parser take no argument: they work on what it has made, in a global variable.
// Wrong: 'edge' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct edge { // CHECK: edge [[@LINE]]
  char *from, *to;
  struct edge *next;
};
struct pending { // either
  char *name;
  struct pending *next;
};
static struct pending *stack;
static struct edge *edges;

static void push(const char *name) {
  struct pending *p = malloc(sizeof *p);
  p->name = strdup(name);
  p->next = stack;
  stack = p;
}

static struct edge *edge(const char *from) {
  struct edge *e = malloc(sizeof *e);
  e->from = strdup(from);
  return e;
}

static void end_edge(void) {
  struct edge *e = edge(stack->next->name);
  e->to = stack->name;
  e->next = edges;
  edges = e;
}


void load(const char *path) {
  char word[20];
  FILE *f = fopen(path, "r");
  while (fgets(word, sizeof word, f)) {
    if (word[0] == ';')
      end_edge();
    else
      push(word);
  }
  fclose(f);
}
