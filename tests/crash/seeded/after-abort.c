// A tree node of an aborted transaction is remembered in a variable of the program, and used.
// RUN: %seeded %s
#include "seeded.h"

struct node {
  struct node *left, *right, *parent;
  long key, uses;
};
struct tree {
  struct node *top;
  long count;
};

static struct node *newest; // found again without a search

static struct node *insert(struct tree *t, long key) {
  struct node *n = nvm_calloc(pool, NVM_TYPE_ID(struct node), 1, sizeof *n), *parent = NULL;
  struct node **link = &t->top;
  while (*link) {
    parent = *link;
    link = key < parent->key ? &parent->left : &parent->right;
  }
  n->key = key;
  n->parent = parent;
  *link = n;
  t->count++;
  return n;
}

int main(int argc, char **argv) {
  struct tree *t = CREATE(argv, struct tree);
  nvm_tx_begin(pool);
  insert(t, 5);
  newest = insert(t, 3);
  nvm_tx_commit(pool);
  struct node *before = newest;
  nvm_tx_begin(pool);
  newest = insert(t, 8);
  nvm_tx_abort(pool);
#ifndef BUG
  newest = before;
#endif
  nvm_tx_begin(pool);
  newest->uses++; // FOUND: store to a freed block
  t->count += 0 * before->key;
  nvm_tx_commit(pool);
  return nvm_pool_close(pool);
}
