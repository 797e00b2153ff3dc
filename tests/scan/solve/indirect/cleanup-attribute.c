// What was read is put into the table by the function that a variable names as its cleanup.
// Calls that stand nowhere in the source: __attribute__((cleanup)).
// Wrong: 'entry' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct entry { // CHECK: entry [[@LINE]]
  int key, value;
  struct entry *next;
};
static struct entry *table[64];

static void keep(struct entry **entry) {
  struct entry *e = *entry;
  if (!e)
    return;
  e->next = table[e->key & 63];
  table[e->key & 63] = e;
}

int load(const char *path) {
  int key, value;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d %d", &key, &value) == 2) {
    __attribute__((cleanup(keep))) struct entry *e = malloc(sizeof *e);
    e->key = key;
    e->value = value;
  }
  fclose(f);
  return 0;
}
