// The chain that proves a type: load function, call, allocation, store, root, each with its place.
// Design: "every reported type carries the chain that proves it".
// Wrong: a step missing, or a step at another line than the code that does it.
// RUN: %scan --load load %s -- | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

// CHECK: :[[#@LINE + 1]]:8: remark: 'struct drop' is persistent
struct drop {
  int size;
  struct drop *next;
};
// CHECK: :[[#@LINE + 12]]:5: note: load function 'load'
// CHECK: :[[#@LINE + 14]]:15: note: calls 'readDrop'
// CHECK: :[[#@LINE + 5]]:20: note: allocated here as 'struct drop'
// CHECK: :[[#@LINE + 14]]:11: note: stored in global 'cloud'
// CHECK: :[[#@LINE + 7]]:21: note: reachable from global 'cloud' after the load

static struct drop *readDrop(FILE *f) {
  struct drop *d = malloc(sizeof *d);
  return fread(&d->size, sizeof d->size, 1, f) == 1 ? d : NULL;
}

static struct drop *cloud;
int load(const char *path) {
  struct drop *d;
  FILE *f = fopen(path, "rb");
  while ((d = readDrop(f))) {
    d->next = cloud;
    cloud = d;
  }
  fclose(f);
  return 0;
}
