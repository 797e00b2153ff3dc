// Links are integers with a tag bit.
// load: load_set
// must: cell
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct cell { long key; uintptr_t next; };
static uintptr_t head;
int load_set(FILE *f) {
  long k;
  int n = 0;
  while (fscanf(f, "%ld", &k) == 1) {
    struct cell *c = malloc(sizeof *c);
    c->key = k;
    c->next = head;
    head = (uintptr_t)c | (k & 1);
    n++;
  }
  return n;
}
