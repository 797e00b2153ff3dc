// A chained hash table with a bucket array that is rehashed into a bigger one while it is filled.
// Hash tables with bucket arrays.
// Wrong: 'bucketEntry' or 'hashTable' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bucketEntry { // CHECK: bucketEntry [[@LINE]]
  unsigned hash;
  struct bucketEntry *next;
  char key[];
};
struct hashTable { // CHECK: hashTable [[@LINE]]
  struct bucketEntry **buckets;
  unsigned size, used;
};
static struct hashTable *names;

static void grow(struct hashTable *t) {
  unsigned size = t->size * 2, i;
  struct bucketEntry **bigger = calloc(size, sizeof *bigger);
  for (i = 0; i < t->size; ++i)
    while (t->buckets[i]) {
      struct bucketEntry *e = t->buckets[i];
      t->buckets[i] = e->next;
      e->next = bigger[e->hash & (size - 1)];
      bigger[e->hash & (size - 1)] = e;
    }
  free(t->buckets);
  t->buckets = bigger;
  t->size = size;
}
static void add(struct hashTable *t, const char *key) {
  struct bucketEntry *e = malloc(sizeof *e + strlen(key) + 1), **b;
  const char *c;
  strcpy(e->key, key);
  e->hash = 5381;
  for (c = key; *c; ++c)
    e->hash = e->hash * 33 + *c;
  if (t->used++ == t->size)
    grow(t);
  b = &t->buckets[e->hash & (t->size - 1)];
  e->next = *b;
  *b = e;
}

int load(const char *path) {
  char key[128];
  FILE *f = fopen(path, "r");
  names = malloc(sizeof *names);
  names->size = 16;
  names->used = 0;
  names->buckets = calloc(16, sizeof *names->buckets);
  while (fgets(key, sizeof key, f))
    add(names, key);
  fclose(f);
  return 0;
}
