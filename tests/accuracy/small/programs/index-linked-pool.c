// Nodes live in one growing array and are linked by their numbers.
// load: tree_load
// must: tnode
// either: tree
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define NIL UINT32_MAX
struct tnode { int64_t key; uint32_t left, right; uint32_t value; };
struct tree { struct tnode *nodes; uint32_t n, cap, root; };
static struct tree T = {NULL, 0, 0, NIL};
static uint32_t node_new(int64_t key) {
  if (T.n == T.cap) {
    T.cap = T.cap ? T.cap * 2 : 64;
    T.nodes = realloc(T.nodes, T.cap * sizeof(struct tnode));
    if (!T.nodes)
      exit(1);
  }
  uint32_t i = T.n++;
  T.nodes[i].key = key;
  T.nodes[i].left = T.nodes[i].right = NIL;
  return i;
}
static uint32_t insert(int64_t key) {
  uint32_t *at = &T.root;
  while (*at != NIL) {
    struct tnode *n = &T.nodes[*at];
    if (n->key == key)
      return *at;
    at = key < n->key ? &n->left : &n->right;
  }
  uint32_t made = node_new(key), i = T.root;
  if (i == NIL) {
    T.root = made;
    return made;
  }
  for (;;) {
    uint32_t *down = key < T.nodes[i].key ? &T.nodes[i].left : &T.nodes[i].right;
    if (*down == NIL) {
      *down = made;
      return made;
    }
    i = *down;
  }
}
int tree_load(const char *file) {
  long long k;
  unsigned v;
  FILE *f = fopen(file, "r");
  if (!f)
    return -1;
  while (fscanf(f, "%lld=%u", &k, &v) == 2)
    T.nodes[insert(k)].value = v;
  fclose(f);
  return (int)T.n;
}
