// What became of types that are not reported.
// Wrong: a type without its reason.
// RUN: %scan --load load --why-not item,scratch,reader,older,other,none %s -- | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

struct item {
  int number;
};
struct scratch {
  int number;
};
struct reader {
  FILE *file;
};
struct other {
  int number;
};
struct older {
  int number;
};
struct item *item;
struct older older;

struct other *unrelated(void) { return malloc(sizeof(struct other)); }

void load(const char *path) {
  struct reader *r = malloc(sizeof *r);
  r->file = fopen(path, "r");
  struct scratch *s = malloc(sizeof *s);
  fread(s, sizeof *s, 1, r->file);
  item = malloc(sizeof *item);
  item->number = s->number;
  older.number = s->number;
  fclose(r->file);
}
// CHECK: note: 'item' is left behind
// CHECK: note: 'scratch': the one made at {{.*}}why-not.c:30 is not reachable when the load returns
// CHECK: note: 'reader': the one made at {{.*}}why-not.c:28 holds the input handle
// CHECK: note: 'older': global 'older' receives input in too few of its own fields
// CHECK: note: 'other': no function that was visited makes or touches one;
// CHECK-SAME: not visited, but naming its size: 'unrelated'
// CHECK: note: no struct or union of the linked program is called 'none'
