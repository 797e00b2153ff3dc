#include <stddef.h>
typedef struct hash_entry {
  void *key, *val;
  struct hash_entry *next;
} hash_entry;
typedef struct hash_type {
  unsigned long (*hash)(const void *);
  int (*eq)(const void *, const void *);
  void *(*keydup)(const void *);
  void (*valfree)(void *);
} hash_type;
typedef struct hash {
  const hash_type *type;
  hash_entry **slots;
  size_t n, used;
} hash;
hash *hash_create(const hash_type *);
void *hash_get(hash *, const void *);
int hash_set(hash *, const void *, void *);
int hash_remove(hash *, const void *);
