// K&R C: no prototypes, implicit int, functions used before they are declared.
// RUN: %scan -q --load load %s -- -std=gnu89 | FileCheck %s
// CHECK: item
#include <stdio.h>

struct item {
  int key;
  struct item *next;
};
static struct item *items;
char *malloc();

insert(key)
{
  struct item *one = (struct item *)malloc(sizeof(struct item));
  one->key = key;
  one->next = items;
  items = one;
}

load(path, flags)
  char *path;
{
  FILE *in = fopen(path, "r");
  int key;
  while (fread(&key, sizeof key, 1, in) == 1)
    insert(key);
  finish(in, flags);
  return 0;
}

finish(in, flags)
  FILE *in;
  int flags;
{
  fclose(in);
}
