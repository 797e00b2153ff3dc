// What stands behind a goto is reached by some runs only: a record that is freed there is kept by the
// others.
// Wrong: 'rule' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct rule { // CHECK: rule [[@LINE]]
  struct rule *next;
  int v;
};
static struct rule *rules;
int load(FILE *f) {
  struct rule *r;
next:
  r = malloc(sizeof *r);
  if (fscanf(f, "%d", &r->v) != 1)
    goto drop;
  r->next = rules;
  rules = r;
  goto next;
drop:
  free(r);
  if (feof(f))
    return 0;
  goto failed;
failed:
  return -1;
}
