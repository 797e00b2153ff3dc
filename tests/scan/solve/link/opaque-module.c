// The type is defined in one unit only; the load sees a pointer to an incomplete type.
// Types across units.
// Wrong: 'table' missed since it is incomplete where the load is.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/load.c %t/table.c -- | %types
// CHECK: row table.c:[[#@LINE + 25]]
// CHECK: table table.c:[[#@LINE + 28]]

//--- table.h
struct table;
struct table *tableNew(void);
void tableAdd(struct table *t, int value);

//--- load.c
#include "table.h"
#include <stdio.h>
static struct table *table;
int load(const char *path) {
  int value;
  FILE *f = fopen(path, "r");
  table = tableNew();
  while (fscanf(f, "%d", &value) == 1)
    tableAdd(table, value);
  fclose(f);
  return 0;
}

//--- table.c
#include "table.h"
#include <stdlib.h>
struct row {
  int value;
  struct row *next;
};
struct table {
  struct row *rows;
};
struct table *tableNew(void) { return calloc(1, sizeof(struct table)); }
void tableAdd(struct table *t, int value) {
  struct row *r = malloc(sizeof *r);
  r->value = value;
  r->next = t->rows;
  t->rows = r;
}
