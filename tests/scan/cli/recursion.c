// Loads by direct and by mutual recursion.
// RUN: %scan -q --load load %s -- | FileCheck %s
// CHECK: tree
#include <stdio.h>
#include <stdlib.h>

struct tree {
  int key;
  struct tree *left, *right;
};
static struct tree *root;
static struct tree *right(FILE *in);

static struct tree *left(FILE *in) {
  struct tree *t;
  int key;
  if (fread(&key, sizeof key, 1, in) != 1 || key < 0)
    return NULL;
  t = malloc(sizeof *t);
  t->key = key;
  t->left = left(in);
  t->right = right(in);
  return t;
}

static struct tree *right(FILE *in) { return left(in); }

int load(const char *path) {
  FILE *in = fopen(path, "rb");
  root = left(in);
  fclose(in);
  return 0;
}
