// An embedded tree node and container_of, the tree's insertion in a library of its own.
// load: extents_load
// must: extent
// either: rb_node rb_root
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
#define container_of(p, t, m) ((t *)((char *)(p)-offsetof(t, m)))
struct rb_node { struct rb_node *parent, *left, *right; int red; };
struct rb_root { struct rb_node *node; };
static void rb_link(struct rb_node *n, struct rb_node *parent, struct rb_node **link) {
  n->parent = parent;
  n->left = n->right = NULL;
  n->red = 1;
  *link = n;
}
static void rb_rotate_left(struct rb_root *root, struct rb_node *x) {
  struct rb_node *y = x->right;
  x->right = y->left;
  if (y->left)
    y->left->parent = x;
  y->parent = x->parent;
  if (!x->parent)
    root->node = y;
  else if (x == x->parent->left)
    x->parent->left = y;
  else
    x->parent->right = y;
  y->left = x;
  x->parent = y;
}
static void rb_fix(struct rb_root *root, struct rb_node *n) {
  while (n->parent && n->parent->red && n->parent->parent) {
    if (n == n->parent->right)
      rb_rotate_left(root, n->parent);
    n = n->parent;
    n->red = 0;
  }
  root->node->red = 0;
}
struct extent { uint64_t start, len; uint32_t flags; struct rb_node node; };
static struct rb_root extents;
static int extent_insert(struct extent *e) {
  struct rb_node **p = &extents.node, *parent = NULL;
  while (*p) {
    struct extent *o = container_of(*p, struct extent, node);
    parent = *p;
    if (e->start < o->start)
      p = &(*p)->left;
    else if (e->start > o->start)
      p = &(*p)->right;
    else
      return -1;
  }
  rb_link(&e->node, parent, p);
  rb_fix(&extents, &e->node);
  return 0;
}
struct disk_extent { uint64_t start, len; uint32_t flags, pad; };
int extents_load(const char *image) {
  struct disk_extent d;
  int fd = open(image, O_RDONLY | O_CLOEXEC), n = 0;
  if (fd < 0)
    return -1;
  while (read(fd, &d, sizeof d) == (ssize_t)sizeof d) {
    struct extent *e = malloc(sizeof(*e));
    if (!e)
      break;
    e->start = d.start;
    e->len = d.len;
    e->flags = d.flags;
    if (extent_insert(e)) {
      free(e);
      continue;
    }
    n++;
  }
  close(fd);
  return n;
}
