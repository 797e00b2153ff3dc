/* tree.c: a B+tree with nodes of 256 bytes, split on the way down. A value of 8 bytes lies in its
 * leaf, a larger one in a block of its own. */
#include "kv.h"
#include "memory.h"

#include <string.h>

enum { ORDER = 15, IS_LARGE = VALUE_BYTES > 8 };

struct value {
  char bytes[VALUE_BYTES];
};

struct node {
  uint32_t leaf, count;
  uint64_t keys[ORDER];
  union {
    struct node *children[ORDER + 1]; /* below keys[0], between, from the last on */
    uint64_t values[ORDER];
    struct value *blocks[ORDER];
  } u;
};

struct tree {
  struct node *root;
};

static struct tree *tree;

static struct node *node_new(uint32_t leaf) {
  struct node *n = ALLOCATE(struct node, sizeof *n);
  n->leaf = leaf;
  n->count = 0;
  return n;
}

NVM_ATOMIC static struct tree *tree_new(void) {
  struct tree *t = ALLOCATE(struct tree, sizeof *t);
  t->root = node_new(1);
  return t;
}

void kv_make(const char *path, uint64_t count, size_t pool_bytes) {
  (void)count;
  memory_make(path, pool_bytes);
  tree = tree_new();
}

static unsigned position(const struct node *n, uint64_t key) {
  unsigned at = 0;
  while (at < n->count && n->keys[at] <= key)
    at++;
  return at;
}

static void make_room(struct node *n, unsigned at, unsigned slot) {
  memmove(n->keys + at + 1, n->keys + at, (n->count - at) * sizeof *n->keys);
  memmove(n->u.values + slot + 1, n->u.values + slot,
          (n->count + !n->leaf - slot) * sizeof *n->u.values);
}

/* Splits the full child at `at`; a leaf keeps its middle key, as the first on the right. */
static void split(struct node *parent, unsigned at) {
  struct node *left = parent->u.children[at], *right = node_new(left->leaf);
  unsigned half = ORDER / 2, from = half + !left->leaf;
  right->count = ORDER - from;
  memcpy(right->keys, left->keys + from, right->count * sizeof *left->keys);
  memcpy(right->u.values, left->u.values + from,
         (right->count + !left->leaf) * sizeof *left->u.values);
  left->count = half;
  make_room(parent, at, at + 1);
  parent->keys[at] = left->keys[half];
  parent->u.children[at + 1] = right;
  parent->count++;
}

static struct value *value_new(const void *bytes) {
  struct value *v = ALLOCATE(struct value, sizeof *v);
  memcpy(v->bytes, bytes, VALUE_BYTES);
  return v;
}

NVM_ATOMIC void kv_insert(uint64_t key, const void *value) {
  struct node *n = tree->root;
  if (n->count == ORDER) {
    struct node *above = node_new(0);
    above->u.children[0] = n;
    split(above, 0);
    tree->root = n = above;
  }
  while (!n->leaf) {
    unsigned at = position(n, key);
    if (n->u.children[at]->count == ORDER) {
      split(n, at);
      at += n->keys[at] <= key;
    }
    n = n->u.children[at];
  }
  unsigned at = position(n, key);
  make_room(n, at, at);
  n->keys[at] = key;
  if (IS_LARGE)
    n->u.blocks[at] = value_new(value);
  else
    memcpy(&n->u.values[at], value, sizeof n->u.values[at]);
  n->count++;
}

static void *find(uint64_t key) {
  struct node *n = tree->root;
  while (!n->leaf)
    n = n->u.children[position(n, key)];
  unsigned at = position(n, key);
  if (!at || n->keys[at - 1] != key)
    return NULL;
  return IS_LARGE ? (void *)n->u.blocks[at - 1]->bytes : &n->u.values[at - 1];
}

NVM_ATOMIC void kv_update(uint64_t key, const void *value) {
  memcpy(find(key), value, VALUE_BYTES);
}

int kv_read(uint64_t key, void *value) {
  const void *found = find(key);
  if (found)
    memcpy(value, found, VALUE_BYTES);
  return found != NULL;
}
