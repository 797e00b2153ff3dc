// Lists with types of their own over one implementation: "struct ship_list" is never defined, and
// is a 'struct list' whenever somebody looks inside.
// Wrong: 'ship', 'list' or 'link' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct link { // CHECK: link [[@LINE]]
  struct link *next;
  void *data;
};
struct list { // CHECK: list [[@LINE]]
  struct link *head;
};
static void listAdd(struct list *l, void *data) {
  struct link *n = malloc(sizeof *n);
  n->data = data;
  n->next = l->head;
  l->head = n;
}
static struct list *listNew(void) { return calloc(1, sizeof(struct list)); }

struct ship_list;
static struct ship_list *shipListNew(void) { return (struct ship_list *)listNew(); }
struct ship { // CHECK: ship [[@LINE]]
  int guns;
};
static void shipListAdd(struct ship_list *l, struct ship *s) { listAdd((struct list *)l, s); }

struct owner { // CHECK: owner [[@LINE]]
  struct ship_list *ships;
};
static struct owner *owner;

int load(const char *path) {
  FILE *f = fopen(path, "r");
  int guns;
  if (!owner)
    owner = calloc(1, sizeof *owner);
  if (!owner->ships)
    owner->ships = shipListNew();
  while (fscanf(f, "%d", &guns) == 1) {
    struct ship *s = malloc(sizeof *s);
    s->guns = guns;
    shipListAdd(owner->ships, s);
  }
  fclose(f);
  return 0;
}
