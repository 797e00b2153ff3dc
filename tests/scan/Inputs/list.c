/* The smallest program with something to find: a list read from a file and kept in a global. */
#include <stdio.h>
#include <stdlib.h>

struct item {
  int key;
  struct item *next;
};

struct item *items;

int load(const char *path) {
  FILE *in = fopen(path, "r");
  int key;
  if (!in)
    return -1;
  while (fread(&key, sizeof key, 1, in) == 1) {
    struct item *one = malloc(sizeof *one);
    one->key = key;
    one->next = items;
    items = one;
  }
  fclose(in);
  return 0;
}
