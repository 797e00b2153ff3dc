// The load function is defined under one name and exported under another; so is what it calls.
// Functions named by __attribute__((alias)).
// Wrong: no function named 'load', or 'node' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct node { // CHECK: node [[@LINE]]
  int value;
  struct node *next;
};
static struct node *nodes;

void addInternally(int value) {
  struct node *n = malloc(sizeof *n);
  n->value = value;
  n->next = nodes;
  nodes = n;
}
extern __typeof(addInternally) add __attribute__((alias("addInternally")));

int loadInternally(const char *path) {
  int value;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d", &value) == 1)
    add(value);
  fclose(f);
  return 0;
}
int load(const char *path) __attribute__((alias("loadInternally")));
