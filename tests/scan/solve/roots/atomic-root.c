// The finished object is published with C11 atomics and GNU builtins.
// Stores that are no assignment.
// Wrong: 'table' or 'rules' missed.
// RUN: %scan --format=json --load load %s -- -std=gnu11 | %types
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct rules { // CHECK: rules [[@LINE]]
  int count;
  int allowed[64];
};
struct table { // CHECK: table [[@LINE]]
  int size;
  struct table *older;
};
static _Atomic(struct rules *) rules;
static struct table *table;

int load(const char *path) {
  FILE *f = fopen(path, "r");
  struct rules *r = calloc(1, sizeof *r), *old;
  struct table *t = malloc(sizeof *t);
  fscanf(f, "%d", &t->size);
  while (r->count < 64 && fscanf(f, "%d", &r->allowed[r->count]) == 1)
    ++r->count;
  old = atomic_exchange(&rules, r);
  free(old);
  t->older = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
  __atomic_store_n(&table, t, __ATOMIC_RELEASE);
  fclose(f);
  return 0;
}
