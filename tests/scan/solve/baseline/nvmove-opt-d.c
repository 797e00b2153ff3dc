// --algorithm=nvmove, optimisation (d): "analyzing each function body only once". Without it a body
// is analysed for each call; recursion must end all the same, and the types are the same.
// Wrong: other types, other counts, or no end.
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- > %t.once
// RUN: cat %t.once | %types
// RUN: FileCheck %s --check-prefix=ONCE < %t.once
// RUN: %scan --format=json --load load --algorithm=nvmove --nvmove-opts=abc %s -- > %t.often
// RUN: cat %t.often | %types
// RUN: FileCheck %s --check-prefix=OFTEN < %t.often
// ONCE: "functions_visited": 3
// OFTEN: "functions_visited": {{([6-9]|[1-9][0-9]+)}},
#include <stdio.h>
#include <stdlib.h>

struct branch { // CHECK: branch [[@LINE]]
  int key;
  struct branch *left, *right;
};
static struct branch *root, *spare;

static int readKey(FILE *f) {
  int key;
  return fscanf(f, "%d", &key) == 1 ? key : -1;
}
static struct branch *readBranch(FILE *f) {
  struct branch *b;
  int key = readKey(f);
  if (key < 0)
    return NULL;
  b = malloc(sizeof *b);
  b->key = key;
  b->left = readBranch(f);
  b->right = readBranch(f);
  return b;
}

int load(FILE *f) {
  root = readBranch(f);
  spare = readBranch(f);
  return readKey(f);
}
