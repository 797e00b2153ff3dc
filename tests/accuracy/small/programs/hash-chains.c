// Chained hash table on the heap, grown while loading.
// load: dict_load
// must: entry dict
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct entry { struct entry *next; char *key; char *value; } entry;
typedef struct dict { entry **buckets; size_t size, used; } dict;
static size_t hash(const char *s) { size_t h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h; }
static void grow(dict *d) {
  size_t size = d->size * 2;
  entry **b = calloc(size, sizeof *b);
  for (size_t i = 0; i < d->size; i++)
    for (entry *e = d->buckets[i], *n; e; e = n) {
      n = e->next;
      e->next = b[hash(e->key) % size];
      b[hash(e->key) % size] = e;
    }
  free(d->buckets);
  d->buckets = b;
  d->size = size;
}
static dict *dict_new(void) {
  dict *d = malloc(sizeof *d);
  d->size = 8;
  d->used = 0;
  d->buckets = calloc(8, sizeof *d->buckets);
  return d;
}
static void dict_set(dict *d, const char *k, const char *v) {
  if (d->used >= d->size)
    grow(d);
  entry *e = malloc(sizeof *e);
  e->key = strdup(k);
  e->value = strdup(v);
  e->next = d->buckets[hash(k) % d->size];
  d->buckets[hash(k) % d->size] = e;
  d->used++;
}
dict *dict_load(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f)
    return NULL;
  dict *d = dict_new();
  char k[100], v[100];
  while (fscanf(f, "%99s %99s", k, v) == 2)
    dict_set(d, k, v);
  fclose(f);
  return d;
}
