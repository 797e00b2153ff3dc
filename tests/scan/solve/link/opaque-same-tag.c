// Two units define a record of the same name, as a program and a library in its tree do; the load
// sees it incomplete. The one is meant whose functions it is given to.
// Wrong: 'entry' missed, since it is put in a cell of the other 'table'.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/load.c %t/other.c %t/table.c -- | %types
// CHECK: entry load.c:[[#@LINE + 10]]

//--- table.h
struct table;
void tablePut(struct table *t, const char *key, void *value);

//--- load.c
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
struct entry {
  char name[32];
  int value;
};
struct jar {
  struct table *entries;
  int count;
};
int otherCount(void);
int load(struct jar *jar, const char *path) {
  char line[80];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct entry *e = malloc(sizeof *e);
    sscanf(line, "%31s %d", e->name, &e->value);
    tablePut(jar->entries, e->name, e);
  }
  fclose(f);
  return otherCount();
}

//--- other.c
struct table {
  long limit;
  struct slot *slots;
  int used;
};
static struct table other;
int otherCount(void) { return other.used; }

//--- table.c
#include "table.h"
struct cell {
  const char *key;
  void *value;
};
struct table {
  struct cell *cells;
  int size;
};
static struct cell *find(const struct table *t, const char *key) {
  struct cell *c = t->cells + key[0] % t->size;
  while (c->key)
    c++;
  return c;
}
void tablePut(struct table *t, const char *key, void *value) {
  struct cell *c = find(t, key);
  c->key = key;
  c->value = value;
}
