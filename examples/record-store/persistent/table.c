/* Chained hash table, see table.h. Grows by doubling when there are more keys than buckets. */
#include "table.h"
#include "pool.h"

#include <stdlib.h>
#include <string.h>

enum { INITIAL_SIZE = 16 };

static size_t hash(const char *key) {
  size_t h = 5381;
  while (*key)
    h = h * 33 + (unsigned char)*key++;
  return h;
}

static char *copy_string(const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = nvm_alloc(pool, 0, n);
  return copy ? memcpy(copy, s, n) : NULL;
}

struct table *table_create(void) {
  struct table *t = nvm_calloc(pool, NVM_TYPE_ID(struct table), 1, sizeof *t);
  if (!t)
    return NULL;
  t->size = INITIAL_SIZE;
  t->buckets = nvm_calloc(pool, NVM_TYPE_ID(struct bucket *), t->size, sizeof *t->buckets);
  if (!t->buckets) {
    free(t);
    return NULL;
  }
  return t;
}

void record_free(struct record *r) {
  if (r)
    free(r->value);
  free(r);
}

static void bucket_free(struct bucket *b) {
  record_free(b->record);
  free(b->key);
  free(b);
}

void table_free(struct table *t) {
  if (!t)
    return;
  for (size_t i = 0; i < t->size; i++)
    for (struct bucket *b = t->buckets[i], *next; b; b = next) {
      next = b->next;
      bucket_free(b);
    }
  free(t->buckets);
  free(t);
}

static struct bucket **find(const struct table *t, const char *key) {
  struct bucket **link = &t->buckets[hash(key) & (t->size - 1)];
  while (*link && strcmp((*link)->key, key) != 0)
    link = &(*link)->next;
  return link;
}

static void grow(struct table *t) {
  size_t size = t->size * 2;
  struct bucket **buckets = nvm_calloc(pool, NVM_TYPE_ID(struct bucket *), size, sizeof *buckets);
  if (!buckets)
    return; /* Longer chains are slower, not wrong. */
  for (size_t i = 0; i < t->size; i++)
    for (struct bucket *b = t->buckets[i], *next; b; b = next) {
      struct bucket **link = &buckets[hash(b->key) & (size - 1)];
      next = b->next;
      b->next = *link;
      *link = b;
    }
  free(t->buckets);
  t->buckets = buckets;
  t->size = size;
}

int table_put(struct table *t, const char *key, struct record *r) {
  struct bucket **link = find(t, key), *b = *link;
  if (b) {
    record_free(b->record);
    b->record = r;
    return 0;
  }
  b = nvm_alloc(pool, NVM_TYPE_ID(struct bucket), sizeof *b);
  if (!b)
    return -1;
  b->key = copy_string(key);
  if (!b->key) {
    free(b);
    return -1;
  }
  b->record = r;
  b->next = NULL;
  *link = b;
  if (++t->count > t->size)
    grow(t);
  return 0;
}

struct record *table_get(const struct table *t, const char *key) {
  struct bucket *b = *find(t, key);
  return b ? b->record : NULL;
}

int table_remove(struct table *t, const char *key) {
  struct bucket **link = find(t, key), *b = *link;
  if (!b)
    return 0;
  *link = b->next;
  bucket_free(b);
  t->count--;
  return 1;
}
