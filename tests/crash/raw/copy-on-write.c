// A tree that copies its nodes: the new root is in force before the node that it leads to is there.
// REQUIRES: clflushopt
// RUN: %raw %s
#include "raw.h"

enum { NODES = 16 };
struct node {
  long left, key, value, sum;
  char rest[96]; // over two lines
  long last;
};
struct tree {
  long root; // number of a node, from 1 on
  char own_line[56];
  struct node node[NODES];
};

static bool is_whole(const struct node *n) { return n->sum == n->key + n->value && n->last == n->key; }

int main(int argc, char **argv) {
  struct tree *tree = map_file(argv, sizeof *tree);
  if (argc > 2) {
    long depth = 0;
    for (long at = tree->root; at; at = tree->node[at].left, depth++)
      if (at >= NODES || !is_whole(&tree->node[at]))
        return wrong("not whole: node", at);
    return depth < acked(argv) ? wrong("depth", depth) : 0;
  }
  for (long i = 1; i < 6; i++) {
    struct node *fresh = &tree->node[i];
    fresh->left = tree->root;
    fresh->key = i;
    fresh->value = 7 * i;
    fresh->sum = 8 * i;
    fresh->last = i; // FOUND: checker
#ifdef BUG
    persist(fresh, 64); // a line was thought to be a node
#else
    persist(fresh, sizeof *fresh);
#endif
    tree->root = i;
    persist(&tree->root, sizeof tree->root);
#ifdef BUG
    persist(&fresh->last, sizeof fresh->last);
#endif
    acknowledge(i);
  }
  return 0;
}
