// malloc behind a wrapper that checks, and a second one on top that clears.
// Allocation wrappers: size.
// Wrong: 'cell' and 'row' missed, or merged into one object with both types everywhere.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *xmalloc(size_t size) {
  void *p = malloc(size ? size : 1);
  if (!p) {
    fputs("out of memory\n", stderr);
    abort();
  }
  return p;
}
static void *xzalloc(size_t size) { return memset(xmalloc(size), 0, size); }

struct cell { // CHECK: cell [[@LINE]]
  double value;
  struct cell *next;
};
struct row { // CHECK: row [[@LINE]]
  struct cell *cells;
  int count;
};
struct parse {
  int line;
};
static struct row *rows[1000];

int load(const char *path) {
  struct parse *p = xmalloc(sizeof *p);
  double value;
  FILE *f = fopen(path, "r");
  p->line = 0;
  while (fscanf(f, "%lf", &value) == 1) {
    struct cell *c = xmalloc(sizeof(struct cell));
    if (!rows[p->line])
      rows[p->line] = xzalloc(sizeof(struct row));
    c->value = value;
    c->next = rows[p->line]->cells;
    rows[p->line]->cells = c;
    p->line = ++rows[p->line]->count > 80 ? p->line + 1 : p->line;
  }
  free(p);
  fclose(f);
  return 0;
}
