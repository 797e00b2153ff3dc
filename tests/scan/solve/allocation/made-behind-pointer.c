// A list that is made when the first item comes, behind a pointer to the pointer to it.
// Wrong: 'list' or 'rule' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list { // CHECK: list [[@LINE]]
  size_t size, count;
  char *items;
};
struct rule { // CHECK: rule [[@LINE]]
  char text[40];
};
struct config { // either
  struct list *rules;
};

static struct list *list_new(size_t size) {
  struct list *made = malloc(sizeof *made);
  made->size = size;
  made->count = 0;
  made->items = NULL;
  return made;
}

static void list_add(struct list *l, void *item) {
  l->items = realloc(l->items, (l->count + 1) * l->size);
  memcpy(l->items + l->count++ * l->size, item, l->size);
}

static int prepare(struct list **rules) {
  if (!*rules)
    *rules = list_new(sizeof(struct rule));
  return *rules ? 0 : -1;
}

void load(struct config *c, const char *path) {
  char line[40];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct rule r;
    if (prepare(&c->rules) != 0)
      break;
    strcpy(r.text, line);
    list_add(c->rules, &r);
  }
  fclose(f);
}
