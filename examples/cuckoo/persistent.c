/* cuckoo: a hash table of strings with two places for each key (DJB2 and Jenkins' one-at-a-time),
 * which grows when a chain of evictions gets too long. Filled, partly deleted, and summed up.
 *
 * usage: cuckoo COUNT POOL
 */
#include "nvmove/nvmove.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NVM_POOL *pool;

enum { EVICTIONS_MAX = 8, FIRST_SIZE = 8 };

struct entry {
  char *key; /* null: the place is free */
  uint64_t value;
};

struct table {
  uint64_t operations, size; /* places in each half */
  struct entry *half[2];
};

static uint32_t hash(int which, const char *key) {
  uint32_t h = which ? 0 : 5381;
  if (!which) {
    for (; *key; key++)
      h = h * 33 + (unsigned char)*key;
    return h;
  }
  for (; *key; key++) {
    h += (unsigned char)*key;
    h += h << 10;
    h ^= h >> 6;
  }
  h += h << 3;
  h ^= h >> 11;
  return h + (h << 15);
}

#define NEW(type, count) checked(nvm_calloc(pool, NVM_TYPE_ID(type), count, sizeof(type)))

static void *checked(void *block) {
  if (!block)
    abort();
  return block;
}

NVM_ATOMIC static struct table *table_new(void) {
  struct table *t = NEW(struct table, 1);
  t->size = FIRST_SIZE;
  nvm_pool_set_root(pool, t);
  for (int which = 0; which < 2; which++)
    t->half[which] = NEW(struct entry, t->size);
  return t;
}

static struct entry *find(const struct table *t, const char *key) {
  for (int which = 0; which < 2; which++) {
    struct entry *e = &t->half[which][hash(which, key) % t->size];
    if (e->key && !strcmp(e->key, key))
      return e;
  }
  return NULL;
}

/* Puts an entry in, moving others to their second place; grows until it fits. */
static void place(struct table *t, struct entry moving);

static void grow(struct table *t) {
  struct entry *old[2] = {t->half[0], t->half[1]};
  uint64_t size = t->size;
  t->size *= 2;
  for (int which = 0; which < 2; which++)
    t->half[which] = NEW(struct entry, t->size);
  for (int which = 0; which < 2; which++) {
    for (uint64_t i = 0; i < size; i++)
      if (old[which][i].key)
        place(t, old[which][i]);
    free(old[which]);
  }
}

static void place(struct table *t, struct entry moving) {
  for (;;) {
    for (int n = 0; n < EVICTIONS_MAX; n++) {
      struct entry *e = &t->half[n % 2][hash(n % 2, moving.key) % t->size];
      struct entry evicted = *e;
      *e = moving;
      if (!evicted.key)
        return;
      moving = evicted;
    }
    grow(t);
  }
}

NVM_ATOMIC static void put(struct table *t, const char *key, uint64_t value) {
  t->operations++;
  struct entry *e = find(t, key);
  if (e) {
    e->value = value;
    return;
  }
  struct entry made = {NEW(char, strlen(key) + 1), value};
  strcpy(made.key, key);
  place(t, made);
}

NVM_ATOMIC static void erase(struct table *t, const char *key) {
  t->operations++;
  struct entry *e = find(t, key);
  if (!e)
    return;
  free(e->key);
  e->key = NULL;
}

static void print_sum(const struct table *t) {
  uint64_t keys = 0, sum = 0;
  for (int which = 0; which < 2; which++)
    for (uint64_t i = 0; i < t->size; i++) {
      const struct entry *e = &t->half[which][i];
      if (!e->key)
        continue;
      if (find(t, e->key) != e)
        abort(); /* lost, or there twice */
      keys++;
      sum += hash(0, e->key) * (e->value + 1);
    }
  printf("%llu keys, sum %llx\n", (unsigned long long)keys, (unsigned long long)sum);
}

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
  if (!(pool = nvm_pool_open(argv[2])) && !(pool = nvm_pool_create(argv[2], 1 << 20)))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  struct table *t = nvm_pool_root(pool) ? nvm_pool_root(pool) : table_new();
  while (t->operations < count) {
    uint64_t i = t->operations;
    char key[32];
    snprintf(key, sizeof key, "key %llu", (unsigned long long)(i % 4 == 3 ? i / 2 : i));
    if (i % 8 == 7)
      erase(t, key);
    else
      put(t, key, i);
    printf("%llu\n", (unsigned long long)t->operations);
    fflush(stdout);
  }
  print_sum(t);
  return 0;
}
