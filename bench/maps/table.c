/* table.c: a chained hash table with as many buckets as a power of two above twice the keys. */
#include "kv.h"
#include "memory.h"

#include <string.h>

struct entry {
  uint64_t key;
  struct entry *next;
  char value[VALUE_BYTES];
};

struct table {
  uint64_t mask;
  struct entry **buckets;
};

struct table *table; /* not static: clang would take the twin's apart into global variables */

static struct entry **bucket(uint64_t key) {
  return &table->buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & table->mask];
}

NVM_ATOMIC static struct table *table_new(uint64_t buckets) {
  struct table *t = ALLOCATE(struct table, sizeof *t);
  t->mask = buckets - 1;
  t->buckets = ALLOCATE(struct entry *, buckets * sizeof *t->buckets);
  memset(t->buckets, 0, buckets * sizeof *t->buckets);
  return t;
}

void kv_make(const char *path, uint64_t count, size_t pool_bytes) {
  memory_make(path, pool_bytes);
  uint64_t buckets = 1;
  while (buckets < 2 * count)
    buckets *= 2;
  table = table_new(buckets);
}

NVM_ATOMIC void kv_insert(uint64_t key, const void *value) {
  struct entry **at = bucket(key), *e = ALLOCATE(struct entry, sizeof *e);
  e->key = key;
  e->next = *at;
  memcpy(e->value, value, VALUE_BYTES);
  *at = e;
}

static struct entry *find(uint64_t key) {
  struct entry *e = *bucket(key);
  while (e && e->key != key)
    e = e->next;
  return e;
}

NVM_ATOMIC void kv_update(uint64_t key, const void *value) {
  memcpy(find(key)->value, value, VALUE_BYTES);
}

int kv_read(uint64_t key, void *value) {
  const struct entry *e = find(key);
  if (e)
    memcpy(value, e->value, VALUE_BYTES);
  return e != NULL;
}
