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
struct cloud {
  struct drop *drops;
};
// CHECK: :[[#@LINE + 14]]:5: note: load function 'load'
// CHECK: :[[#@LINE + 18]]:{{[0-9]+}}: note: {{.*}}'readDrop'
// CHECK: :[[#@LINE + 5]]:{{[0-9]+}}: note: allocated here as 'struct drop'
// CHECK: :[[#@LINE + 16]]:{{[0-9]+}}: note: stored in
// CHECK: :[[#@LINE + 9]]:22: note: reachable from global 'cloud'

static struct drop *readDrop(FILE *f) {
  struct drop *d = malloc(sizeof *d);
  d->next = NULL;
  return fread(&d->size, sizeof d->size, 1, f) == 1 ? d : NULL;
}

static struct cloud *cloud;

int load(const char *path) {
  struct drop *d;
  FILE *f = fopen(path, "rb");
  cloud = calloc(1, sizeof *cloud);
  while ((d = readDrop(f))) {
    d->next = cloud->drops;
    cloud->drops = d;
  }
  fclose(f);
  return 0;
}
