// An iterator is allocated, walks what was loaded and is released; another lives on the stack.
// FINDINGS: iterators fall away by themselves.
// Wrong: 'iterator' or 'position' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct leaf { // CHECK: leaf [[@LINE]]
  int key;
  struct leaf *left, *right;
};
struct tree { // CHECK: tree [[@LINE]]
  struct leaf *root;
  int depth;
};
struct iterator {
  struct tree *tree;
  struct leaf *path[32], *next;
  int depth;
};
struct position {
  struct leaf **link;
  int depth;
};
static struct tree *index;

static struct position find(struct tree *t, int key) {
  struct position p = {&t->root, 0};
  while (*p.link) {
    p.link = key < (*p.link)->key ? &(*p.link)->left : &(*p.link)->right;
    ++p.depth;
  }
  return p;
}
static struct iterator *begin(struct tree *t) {
  struct iterator *i = calloc(1, sizeof *i);
  i->tree = t;
  i->next = t->root;
  return i;
}
static struct leaf *step(struct iterator *i) {
  struct leaf *l = i->next;
  if (l)
    i->next = l->right;
  i->path[i->depth & 31] = l;
  return l;
}
static void release(struct iterator *i) { free(i); }

int load(const char *path) {
  struct iterator *i;
  struct leaf *l;
  int key, previous = 0, sorted = 1;
  FILE *f = fopen(path, "rb");
  index = calloc(1, sizeof *index);
  while (fread(&key, sizeof key, 1, f) == 1) {
    struct position p = find(index, key);
    *p.link = calloc(1, sizeof **p.link);
    (*p.link)->key = key;
    if (p.depth > index->depth)
      index->depth = p.depth;
  }
  i = begin(index);
  while ((l = step(i))) {
    sorted &= l->key >= previous;
    previous = l->key;
  }
  release(i);
  fclose(f);
  return sorted;
}
