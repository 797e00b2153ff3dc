// Two lists of the same kind in the load: one stays, the other is a work list that is emptied.
// FINDINGS, open: "containers need their element type per owner (one list node type merges all)".
// Wrong: 'pending' reported because it was once in a list.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct cell { // CHECK: cell [[@LINE]]
  void *value;
  struct cell *next;
};
struct list { // CHECK: list [[@LINE]]
  struct cell *first;
};
static struct list *listNew(void) { return calloc(1, sizeof(struct list)); }
static void listAdd(struct list *l, void *value) {
  struct cell *c = malloc(sizeof *c);
  c->value = value;
  c->next = l->first;
  l->first = c;
}
static void *listTake(struct list *l) {
  struct cell *c = l->first;
  void *value;
  if (!c)
    return NULL;
  value = c->value;
  l->first = c->next;
  free(c);
  return value;
}

struct river { // CHECK: river [[@LINE]]
  int id;
  struct river *into;
};
struct pending {
  struct river *river;
  int into;
};
static struct list *rivers;

static struct river *findRiver(int id) {
  struct cell *c;
  for (c = rivers->first; c; c = c->next)
    if (((struct river *)c->value)->id == id)
      return c->value;
  return NULL;
}

int load(const char *path) {
  struct list *work = listNew();
  struct pending *p;
  int id, into;
  FILE *f = fopen(path, "r");
  rivers = listNew();
  while (fscanf(f, "%d %d", &id, &into) == 2) {
    struct river *r = malloc(sizeof *r);
    r->id = id;
    listAdd(rivers, r);
    p = malloc(sizeof *p);
    p->river = r;
    p->into = into;
    listAdd(work, p);
  }
  while ((p = listTake(work))) {
    p->river->into = findRiver(p->into);
    free(p);
  }
  free(work);
  fclose(f);
  return 0;
}
