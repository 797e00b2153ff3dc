// An index from file ids to objects hangs at a global while the load runs; the load frees it and
// sets the global to null.
// FINDINGS: "indexes freed when the load ends".
// Wrong: 'index' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct page { // CHECK: page [[@LINE]]
  int id;
  struct page *parent, *next;
};
struct index {
  int last;
  struct page *byId[64];
};
static struct page *pages;
static struct index *index;

static void add(int id, int parent) {
  struct page *p = malloc(sizeof *p);
  p->id = id;
  p->parent = index->byId[parent & 63];
  p->next = pages;
  pages = p;
  index->byId[id & 63] = p;
  index->last = id;
}

int load(const char *path) {
  int id, parent;
  FILE *f = fopen(path, "r");
  index = calloc(1, sizeof *index);
  while (fscanf(f, "%d %d", &id, &parent) == 2)
    add(id, parent);
  free(index);
  index = NULL;
  fclose(f);
  return 0;
}
