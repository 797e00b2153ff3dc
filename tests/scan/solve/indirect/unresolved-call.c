// A call through a pointer that nothing in the program can name is said, not swallowed.
// Issue: "unresolved_calls"; style rule 13.
// Wrong: an answer that looks complete.
// RUN: %scan --format=json --load load %s -- | FileCheck %s
// CHECK: "name": "mark"
// CHECK: "unresolved_calls": [
// CHECK: "line": [[#@LINE + 24]]
#include <stdio.h>
#include <stdlib.h>

struct plugin {
  const char *name;
  int (*restore)(FILE *f, struct plugin *p, unsigned version, double scale);
};
extern struct plugin *plugin(unsigned number);

struct mark {
  unsigned plugin;
  struct mark *next;
};
static struct mark *marks;

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  unsigned number;
  while (fread(&number, sizeof number, 1, f) == 1) {
    struct mark *m = malloc(sizeof *m);
    m->plugin = number;
    m->next = marks;
    marks = m;
    plugin(number)->restore(f, plugin(number), 2, 1.0);
  }
  fclose(f);
  return 0;
}
