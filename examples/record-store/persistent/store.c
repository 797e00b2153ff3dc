/* The store in a pool, see store.h: the table is the data, so nothing is written out or replayed.
 */
#include "store.h"
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 4096, VALUE_MAX = 1 << 24, POOL_SIZE = 1 << 20 };

NVM_POOL *pool;

NVM_ATOMIC static struct store *store_new(void) {
  struct store *s = nvm_calloc(pool, NVM_TYPE_ID(struct store), 1, sizeof *s);
  if (!s || !(s->table = table_create()) || nvm_pool_set_root(pool, s) != 0)
    return NULL;
  return s;
}

struct store *store_open(const char *path) {
  if (!(pool = nvm_pool_open(path)) && !(pool = nvm_pool_create(path, POOL_SIZE))) {
    fprintf(stderr, "%s\n", nvm_strerror());
    return NULL;
  }
  return nvm_pool_root(pool) ? nvm_pool_root(pool) : store_new();
}

void store_close(struct store *s) {
  (void)s;
  nvm_pool_close(pool);
}

NVM_ATOMIC int store_put(struct store *s, const char *key, const char *value) {
  size_t length = strlen(value);
  if (strlen(key) >= KEY_MAX || length > VALUE_MAX) {
    errno = EINVAL;
    return -1;
  }
  struct record *rec = nvm_alloc(pool, NVM_TYPE_ID(struct record), sizeof *rec);
  char *copy = nvm_alloc(pool, 0, length + 1);
  if (!rec || !copy) {
    free(rec);
    free(copy);
    return -1;
  }
  rec->sequence = s->next_sequence++;
  rec->length = length;
  rec->value = memcpy(copy, value, length + 1);
  if (table_put(s->table, key, rec) != 0) {
    record_free(rec);
    return -1;
  }
  return 0;
}

NVM_ATOMIC int store_delete(struct store *s, const char *key) {
  if (!table_remove(s->table, key)) {
    errno = ENOENT;
    return -1;
  }
  s->next_sequence++;
  return 0;
}

/* Nothing to rewrite: what is dead is free. */
int store_compact(struct store *s) {
  (void)s;
  return 0;
}
