// A hash table that grows in place: its new size is in force before the entries have moved.
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

enum { ROOM = 64 };
struct entry {
  long key, value;
};
struct table {
  long size;
  char own_line[56];
  struct entry entry[2][ROOM]; // the one in use: by the number of doublings
};

static struct entry *entries(struct table *t, long size) { return t->entry[size == 8 || size == 32]; }

static long get(struct table *t, long key) {
  for (long i = 0; i < t->size; i++) {
    const struct entry *e = &entries(t, t->size)[(key + i) % t->size];
    if (e->key == key)
      return e->value;
  }
  return 0;
}

static void put(struct entry *to, long size, long key) {
  long at = key % size;
  while (to[at].key)
    at = (at + 1) % size;
  to[at].value = 3 * key;
  persist(&to[at].value, sizeof(long));
  to[at].key = key;
  persist(&to[at].key, sizeof(long));
}

static void grow(struct table *t) {
  long size = 2 * t->size;
  struct entry *to = entries(t, size);
#ifdef BUG
  t->size = size; // FOUND: checker
  persist(&t->size, sizeof t->size);
#endif
  for (long i = 0; i < size / 2; i++)
    if (entries(t, size / 2)[i].key)
      put(to, size, entries(t, size / 2)[i].key);
#ifndef BUG
  t->size = size;
  persist(&t->size, sizeof t->size);
#endif
}

int main(int argc, char **argv) {
  struct table *t = map_file(argv, sizeof *t);
  if (argc > 2) {
    for (long key = 1; key <= acked(argv); key++)
      if (get(t, key) != 3 * key)
        return wrong("lost: key", key);
    return 0;
  }
  t->size = 4;
  persist(&t->size, sizeof t->size);
  for (long key = 1; key <= 10; key++) {
    if (key == 3 || key == 6)
      grow(t);
    put(entries(t, t->size), t->size, key);
    acknowledge(key);
  }
  return 0;
}
