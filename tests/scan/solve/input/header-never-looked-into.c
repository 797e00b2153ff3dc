// RUN: %scan --load load %s -- | FileCheck %s
// A block is a header and an item; the program keeps the header, and looks into the item alone.
// CHECK: header {{.*}} low
// CHECK: item {{.*}} high
// CHECK: 'struct item' is persistent
// CHECK: lies behind {{.*}}, in one block
// CHECK: stored in global 'last'
#include <stdio.h>
#include <stdlib.h>
struct header {
  size_t size;
};
static struct header *last;
struct item {
  char name[32];
};
int load(const char *path) {
  FILE *f = fopen(path, "r");
  char name[32];
  while (f && fread(name, sizeof name, 1, f) == 1) {
    struct header *h = malloc(sizeof *h + sizeof(struct item));
    struct item *i = (struct item *)((char *)h + sizeof(struct header));
    for (int k = 0; k < 32; k++)
      i->name[k] = name[k];
    last = h;
  }
  return 0;
}
