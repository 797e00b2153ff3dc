/* A chained hash table from strings to records. It owns what is put into it. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

/* A value and when it was written. */
struct record {
  unsigned long sequence;
  size_t length;
  char *value;
};

struct bucket {
  char *key;
  struct record *record;
  struct bucket *next;
};

struct table {
  size_t count, size; /* size is a power of two */
  struct bucket **buckets;
};

struct table *table_create(void);
void table_free(struct table *t);

/* Puts a record under a key, replacing (and freeing) an older one. 0, or -1 without memory. */
int table_put(struct table *t, const char *key, struct record *r);
struct record *table_get(const struct table *t, const char *key);
/* 1 when the key was there. */
int table_remove(struct table *t, const char *key);

void record_free(struct record *r);

#endif
