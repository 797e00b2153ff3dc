// A doubly linked list with xor-ed neighbours.
// load: load_values
// must: xnode
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct xnode { int value; uintptr_t both; };
static struct xnode *first, *last;
void load_values(FILE *f) {
  int v;
  while (fscanf(f, "%d", &v) == 1) {
    struct xnode *n = malloc(sizeof *n);
    n->value = v;
    n->both = (uintptr_t)last;
    if (last)
      last->both ^= (uintptr_t)n;
    else
      first = n;
    last = n;
  }
}
