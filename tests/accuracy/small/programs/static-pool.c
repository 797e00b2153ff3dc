// Nodes come from a static array; links are indices.
// load: load_tree
// must: tnode
#include <stdio.h>
struct tnode { int key, left, right, value; };
static struct tnode pool[4096];
static int used = 1, root;
static int insert(int at, int key, int value) {
  if (!at) {
    pool[used].key = key;
    pool[used].value = value;
    pool[used].left = pool[used].right = 0;
    return used++;
  }
  if (key < pool[at].key)
    pool[at].left = insert(pool[at].left, key, value);
  else
    pool[at].right = insert(pool[at].right, key, value);
  return at;
}
int load_tree(FILE *f) {
  int k, v;
  while (fscanf(f, "%d=%d", &k, &v) == 2)
    root = insert(root, k, v);
  return used;
}
