/* btree: a B+tree of 64-bit keys, filled, partly updated, and summed up in the order of its keys.
 *
 * usage: btree COUNT POOL
 */
#include "nvmove/nvmove.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NVM_POOL *pool;

enum { ORDER = 6 }; /* small, so that a few keys make a tree of several levels */

struct node {
  int leaf, count;
  uint64_t keys[ORDER];
  uint64_t values[ORDER];
  struct node *children[ORDER + 1]; /* below keys[0], between, above the last */
  struct node *next;                /* of leaves: the one to the right */
};

struct tree {
  struct node *root;
  uint64_t operations;
};

static struct node *node_new(int leaf) {
  struct node *n = nvm_alloc(pool, NVM_TYPE_ID(struct node), sizeof *n);
  if (!n)
    abort();
  memset(n, 0, sizeof *n);
  n->leaf = leaf;
  return n;
}

NVM_ATOMIC static struct tree *tree_new(void) {
  struct tree *t = nvm_alloc(pool, NVM_TYPE_ID(struct tree), sizeof *t);
  if (!t)
    abort();
  t->root = node_new(1);
  t->operations = 0;
  nvm_pool_set_root(pool, t);
  return t;
}

static int position(const struct node *n, uint64_t key) {
  int at = 0;
  while (at < n->count && n->keys[at] <= key)
    at++;
  return at;
}

/* Splits the full child at `at`; a leaf keeps its middle key, as the first on the right. */
static void split(struct node *parent, int at) {
  struct node *left = parent->children[at], *right = node_new(left->leaf);
  int half = ORDER / 2, moved = left->leaf ? ORDER - half : ORDER - half - 1;
  int from = ORDER - moved;
  memcpy(right->keys, left->keys + from, (size_t)moved * sizeof *left->keys);
  memcpy(right->values, left->values + from, (size_t)moved * sizeof *left->values);
  if (!left->leaf)
    memcpy(right->children, left->children + from, (size_t)(moved + 1) * sizeof *left->children);
  right->count = moved;
  left->count = half;
  right->next = left->next;
  left->next = right;
  memmove(parent->keys + at + 1, parent->keys + at,
          (size_t)(parent->count - at) * sizeof *parent->keys);
  memmove(parent->children + at + 2, parent->children + at + 1,
          (size_t)(parent->count - at) * sizeof *parent->children);
  parent->keys[at] = left->keys[half];
  parent->children[at + 1] = right;
  parent->count++;
}

NVM_ATOMIC static void insert(struct tree *t, uint64_t key, uint64_t value) {
  t->operations++;
  if (t->root->count == ORDER) {
    struct node *above = node_new(0);
    above->children[0] = t->root;
    t->root = above;
    split(above, 0);
  }
  struct node *n = t->root;
  while (!n->leaf) {
    int at = position(n, key);
    if (n->children[at]->count == ORDER) {
      split(n, at);
      at = position(n, key);
    }
    n = n->children[at];
  }
  int at = position(n, key);
  if (at && n->keys[at - 1] == key) {
    n->values[at - 1] = value;
    return;
  }
  memmove(n->keys + at + 1, n->keys + at, (size_t)(n->count - at) * sizeof *n->keys);
  memmove(n->values + at + 1, n->values + at, (size_t)(n->count - at) * sizeof *n->values);
  n->keys[at] = key;
  n->values[at] = value;
  n->count++;
}

static void print_sum(const struct tree *t) {
  uint64_t keys = 0, sum = 0, last = 0;
  const struct node *n = t->root;
  while (!n->leaf)
    n = n->children[0];
  for (; n; n = n->next)
    for (int i = 0; i < n->count; i++) {
      if (keys++ && n->keys[i] <= last)
        abort(); /* not in order */
      last = n->keys[i];
      sum = sum * 31 + last + n->values[i];
    }
  printf("%llu keys, sum %llx\n", (unsigned long long)keys, (unsigned long long)sum);
}

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
  if (!(pool = nvm_pool_open(argv[2])) && !(pool = nvm_pool_create(argv[2], 1 << 20)))
    return fprintf(stderr, "%s\n", nvm_strerror()), 1;
  struct tree *t = nvm_pool_root(pool) ? nvm_pool_root(pool) : tree_new();
  while (t->operations < count) {
    uint64_t i = t->operations;
    insert(t, i % 5 == 4 ? (i / 2) * 7919 % 1009 : i * 7919 % 1009, i);
    printf("%llu\n", (unsigned long long)t->operations);
    fflush(stdout);
  }
  print_sum(t);
  return 0;
}
