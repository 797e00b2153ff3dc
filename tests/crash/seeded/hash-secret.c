// A hash table whose hash depends on a number of this process: the next process finds nothing.
// RUN: %seeded %s
#include "seeded.h"

#include <unistd.h>

enum { BUCKETS = 8, KEYS = 6 };

struct entry {
  struct entry *next;
  long key;
};
struct table {
  long count, secret;
  struct entry *bucket[BUCKETS];
};

static long secret; // of this process; 0 in the next one

static long place_of(const struct table *t, long key) {
  return (key * 7 + (secret ? secret : t->secret)) % BUCKETS;
}

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct table *t = nvm_pool_root(pool);
  long found = 0;
  for (long key = 1; t && key <= KEYS; key++)
    for (const struct entry *e = t->bucket[place_of(t, key)]; e; e = e->next)
      found += e->key == key;
  return t && found != t->count;
}
#else
static void insert(struct table *t, long key) {
  nvm_tx_begin(pool);
  struct entry *e = nvm_alloc(pool, NVM_TYPE_ID(struct entry), sizeof *e);
  struct entry **bucket = &t->bucket[place_of(t, key)];
  e->key = key;
  e->next = *bucket;
  *bucket = e;
  t->count++;
  nvm_tx_commit(pool); // FOUND: checker
}

int main(int argc, char **argv) {
  struct table *t = CREATE(argv, struct table);
  secret = 1 + getpid() % (BUCKETS - 1);
#ifndef BUG
  nvm_tx_begin(pool);
  t->secret = secret;
  nvm_tx_commit(pool);
#endif
  for (long key = 1; key <= KEYS; key++)
    insert(t, key);
  return nvm_pool_close(pool);
}
#endif
