/* pmemobj_table.c: table.c ported to libpmemobj by hand, with everything that helps it: links are
 * offsets in the pool, new entries are not logged, one range is added to an insertion. */
#include "kv.h"
#include "pmemobj.h"

#include <string.h>

struct entry {
  uint64_t key;
  uint64_t next; /* offset in the pool; 0: none */
  char value[VALUE_BYTES];
};

static uint64_t mask, *buckets;

#define AT(offset) ((struct entry *)((char *)pool + (offset)))

static uint64_t *bucket(uint64_t key) {
  return &buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & mask];
}

void kv_make(const char *path, uint64_t count, size_t pool_bytes) {
  memory_make(path, pool_bytes);
  uint64_t size = 1;
  while (size < 2 * count)
    size *= 2;
  PMEMoid oid;
  if (pmemobj_zalloc(pool, &oid, size * sizeof *buckets, 1))
    exit(1);
  buckets = pmemobj_direct(oid);
  mask = size - 1;
}

void kv_insert(uint64_t key, const void *value) {
  TX_BEGIN(pool) {
    uint64_t *at = bucket(key), made = pmemobj_tx_alloc(sizeof(struct entry), 2).off;
    struct entry *e = AT(made);
    e->key = key;
    e->next = *at;
    memcpy(e->value, value, VALUE_BYTES);
    LOG(*at);
    *at = made;
  }
  TX_END
}

static struct entry *find(uint64_t key) {
  for (uint64_t at = *bucket(key); at; at = AT(at)->next)
    if (AT(at)->key == key)
      return AT(at);
  return NULL;
}

void kv_update(uint64_t key, const void *value) {
  TX_BEGIN(pool) {
    struct entry *e = find(key);
    LOG(e->value);
    memcpy(e->value, value, VALUE_BYTES);
  }
  TX_END
}

int kv_read(uint64_t key, void *value) {
  const struct entry *e = find(key);
  if (e)
    memcpy(value, e->value, VALUE_BYTES);
  return e != NULL;
}
