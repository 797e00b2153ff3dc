// Two units have a static function and a static variable of the same name.
// Names are resolved per unit before they are resolved per program.
// Wrong: 'color' reported (built by the other unit's function of that name).
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load load %t/a.c %t/b.c -- | %types
// CHECK: shape a.c:[[#@LINE + 5]]

//--- a.c
#include <stdio.h>
#include <stdlib.h>
struct shape {
  int corners;
  struct shape *next;
};
static struct shape *all;
static void add(int corners) {
  struct shape *s = malloc(sizeof *s);
  s->corners = corners;
  s->next = all;
  all = s;
}
int load(const char *path) {
  int corners;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d", &corners) == 1)
    add(corners);
  fclose(f);
  return 0;
}

//--- b.c
#include <stdlib.h>
struct color {
  int rgb;
  struct color *next;
};
static struct color *all;
static void add(int rgb) {
  struct color *c = malloc(sizeof *c);
  c->rgb = rgb;
  c->next = all;
  all = c;
}
void addColors(int n) {
  while (n--)
    add(n);
}
