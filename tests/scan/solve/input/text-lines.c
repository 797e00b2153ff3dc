// Lines are read into a buffer, parsed into a local record with sscanf, and given to a builder.
// Rules 3 and 5: what parses input fills the record; a tainted record pulls in the builder.
// Wrong: 'peak' missed; 'line' or 'fields' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct line {
  char text[80];
  int number;
};
struct fields {
  int height;
  char name[40];
};
struct peak { // CHECK: peak [[@LINE]]
  int height;
  char name[40];
  struct peak *next;
};
static struct peak *peaks;

static void add(const struct fields *from) {
  struct peak *p = malloc(sizeof *p);
  p->height = from->height;
  snprintf(p->name, sizeof p->name, "%s", from->name);
  p->next = peaks;
  peaks = p;
}

int load(const char *path) {
  struct line l = {"", 0};
  FILE *f = fopen(path, "r");
  while (fgets(l.text, sizeof l.text, f)) {
    struct fields r;
    ++l.number;
    if (sscanf(l.text, "%d %39s", &r.height, r.name) != 2)
      continue;
    add(&r);
  }
  fclose(f);
  return 0;
}
