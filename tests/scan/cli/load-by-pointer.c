// A load function that nobody calls by name.
// RUN: %scan -q --load load %s -- | FileCheck %s
// CHECK: item
#include <stdio.h>
#include <stdlib.h>

struct item {
  int key;
  struct item *next;
};
static struct item *items;

static int load(FILE *in) {
  int key;
  while (fread(&key, sizeof key, 1, in) == 1) {
    struct item *one = malloc(sizeof *one);
    one->key = key;
    one->next = items;
    items = one;
  }
  return 0;
}

struct module {
  int (*load)(FILE *);
};
struct module modules[] = {{load}};

int main(void) { return modules[0].load(stdin); }
