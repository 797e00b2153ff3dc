/* pmemobj_tree.c: tree.c ported to libpmemobj by hand, with everything that helps it: links are
 * offsets in the pool, new nodes are not logged, a node that changes is added as one range. */
#include "kv.h"
#include "pmemobj.h"

#include <string.h>

enum { ORDER = 15, IS_LARGE = VALUE_BYTES > 8 };

struct node {
  uint32_t leaf, count;
  uint64_t keys[ORDER];
  uint64_t values[ORDER + 1]; /* or offsets of children, or of large values, in the pool */
};

static uint64_t *root;

#define AT(offset) ((struct node *)((char *)pool + (offset)))

static uint64_t node_new(uint32_t leaf) {
  uint64_t made = pmemobj_tx_alloc(sizeof(struct node), 1).off;
  AT(made)->leaf = leaf;
  AT(made)->count = 0;
  return made;
}

void kv_make(const char *path, uint64_t count, size_t pool_bytes) {
  (void)count;
  memory_make(path, pool_bytes);
  PMEMoid oid;
  if (pmemobj_zalloc(pool, &oid, sizeof *root, 2))
    exit(1);
  root = pmemobj_direct(oid);
  TX_BEGIN(pool) {
    LOG(*root);
    *root = node_new(1);
  }
  TX_END
}

static unsigned position(const struct node *n, uint64_t key) {
  unsigned at = 0;
  while (at < n->count && n->keys[at] <= key)
    at++;
  return at;
}

static void make_room(struct node *n, unsigned at, unsigned slot) {
  memmove(n->keys + at + 1, n->keys + at, (n->count - at) * sizeof *n->keys);
  memmove(n->values + slot + 1, n->values + slot, (n->count + !n->leaf - slot) * sizeof *n->values);
}

/* `parent` is logged or new. */
static void split(struct node *parent, unsigned at) {
  uint64_t made = node_new(AT(parent->values[at])->leaf);
  struct node *left = AT(parent->values[at]), *right = AT(made);
  unsigned half = ORDER / 2, from = half + !left->leaf;
  right->count = ORDER - from;
  memcpy(right->keys, left->keys + from, right->count * sizeof *left->keys);
  memcpy(right->values, left->values + from, (right->count + !left->leaf) * sizeof *left->values);
  LOG(left->count);
  left->count = half;
  make_room(parent, at, at + 1);
  parent->keys[at] = left->keys[half];
  parent->values[at + 1] = made;
  parent->count++;
}

static void insert(uint64_t key, const void *value) {
  struct node *n = AT(*root);
  if (n->count == ORDER) {
    uint64_t above = node_new(0);
    AT(above)->values[0] = *root;
    split(AT(above), 0);
    LOG(*root);
    *root = above;
    n = AT(above);
  }
  while (!n->leaf) {
    unsigned at = position(n, key);
    if (AT(n->values[at])->count == ORDER) {
      LOG(*n);
      split(n, at);
      at += n->keys[at] <= key;
    }
    n = AT(n->values[at]);
  }
  LOG(*n);
  unsigned at = position(n, key);
  make_room(n, at, at);
  n->keys[at] = key;
  if (IS_LARGE) {
    n->values[at] = pmemobj_tx_alloc(VALUE_BYTES, 3).off;
    memcpy(AT(n->values[at]), value, VALUE_BYTES);
  } else {
    memcpy(&n->values[at], value, sizeof n->values[at]);
  }
  n->count++;
}

void kv_insert(uint64_t key, const void *value) {
  TX_BEGIN(pool) { insert(key, value); }
  TX_END
}

static void *find(uint64_t key) {
  struct node *n = AT(*root);
  while (!n->leaf)
    n = AT(n->values[position(n, key)]);
  unsigned at = position(n, key);
  if (!at || n->keys[at - 1] != key)
    return NULL;
  return IS_LARGE ? (void *)AT(n->values[at - 1]) : &n->values[at - 1];
}

void kv_update(uint64_t key, const void *value) {
  TX_BEGIN(pool) {
    void *found = find(key);
    pmemobj_tx_add_range_direct(found, VALUE_BYTES);
    memcpy(found, value, VALUE_BYTES);
  }
  TX_END
}

int kv_read(uint64_t key, void *value) {
  const void *found = find(key);
  if (found)
    memcpy(value, found, VALUE_BYTES);
  return found != NULL;
}
