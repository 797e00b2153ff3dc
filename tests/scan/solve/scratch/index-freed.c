// An index from file ids to objects exists only while references are resolved; a global points to
// it meanwhile and is cleared at the end.
// FINDINGS: "indexes freed when the load ends"; issue: freed before return.
// Wrong: 'index' or 'slot' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct page { // CHECK: page [[@LINE]]
  int id;
  struct page *parent, *next;
};
struct slot {
  int id;
  struct page *page;
  struct slot *next;
};
struct index {
  struct slot *slots[64];
};
static struct page *pages;
static struct index *byId;

static void indexAdd(struct index *x, struct page *p) {
  struct slot *s = malloc(sizeof *s);
  s->id = p->id;
  s->page = p;
  s->next = x->slots[p->id & 63];
  x->slots[p->id & 63] = s;
}
static struct page *indexFind(struct index *x, int id) {
  struct slot *s;
  for (s = x->slots[id & 63]; s; s = s->next)
    if (s->id == id)
      return s->page;
  return NULL;
}
static void indexFree(struct index *x) {
  int i;
  for (i = 0; i < 64; ++i)
    while (x->slots[i]) {
      struct slot *s = x->slots[i];
      x->slots[i] = s->next;
      free(s);
    }
  free(x);
}

int load(const char *path) {
  int id, parent;
  FILE *f = fopen(path, "r");
  byId = calloc(1, sizeof *byId);
  while (fscanf(f, "%d %d", &id, &parent) == 2) {
    struct page *p = malloc(sizeof *p);
    p->id = id;
    p->parent = indexFind(byId, parent);
    p->next = pages;
    pages = p;
    indexAdd(byId, p);
  }
  indexFree(byId);
  byId = NULL;
  fclose(f);
  return 0;
}
