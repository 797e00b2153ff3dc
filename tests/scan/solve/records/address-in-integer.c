// A link may be kept as uintptr_t, in a variable as well as in a field.
// Wrong: 'node' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct node { // CHECK: node [[@LINE]]
  long key;
  uintptr_t next;
};
static uintptr_t head;
void load(FILE *f) {
  long key;
  while (fscanf(f, "%ld", &key) == 1) {
    struct node *n = malloc(sizeof *n);
    n->key = key;
    n->next = head;
    head = (uintptr_t)n;
  }
}
