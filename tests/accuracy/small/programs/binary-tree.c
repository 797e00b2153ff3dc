// A recursive reader of a binary tree.
// load: load_expr
// must: tree
#include <stdio.h>
#include <stdlib.h>
typedef struct tree *Tree;
struct tree { int op; long number; Tree left, right; };
static Tree get(FILE *f) {
  int c = getc(f);
  if (c == EOF || c == '.')
    return NULL;
  Tree t = malloc(sizeof *t);
  t->op = c;
  t->number = 0;
  if (c == '#')
    fscanf(f, "%ld", &t->number);
  t->left = get(f);
  t->right = get(f);
  return t;
}
Tree load_expr(FILE *f) { return get(f); }
