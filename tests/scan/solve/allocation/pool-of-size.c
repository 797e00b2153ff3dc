// A pool is made with the size of a record and hands out blocks of it, whoever asks. The nodes of
// a tree come from one pool, its leaves from another, and both hang at one union type.
// Wrong: 'node' or 'leaf' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct policy { // either
  int flags;
};
struct pool { // either
  size_t size, room;
  struct policy *policy;
  char *block;
};
static struct pool *poolFor(size_t size, size_t room, struct policy *policy) {
  struct pool *p = malloc(sizeof *p);
  p->size = size;
  p->room = room;
  p->policy = policy;
  p->block = NULL;
  return p;
}
static struct pool *poolCreate(size_t size, size_t room) { return poolFor(size, room, NULL); }
static void *poolGet(struct pool *p) {
  if (!p->block)
    p->block = malloc(p->size * p->room);
  p->block += p->size;
  return p->block;
}

union element;
struct node { // CHECK: node [[@LINE]]
  int nibble;
  union element *down[16];
};
struct leaf { // CHECK: leaf [[@LINE]]
  int nibble;
  char key[20];
};
union element { // either
  int nibble;
  struct node node;
  struct leaf leaf;
};
static struct pool *nodes, *leaves;
static union element *root;

int load(FILE *f) {
  char line[20];
  nodes = poolCreate(sizeof(struct node), 64);
  leaves = poolCreate(sizeof(struct leaf), 256);
  root = poolGet(nodes);
  while (fgets(line, sizeof line, f)) {
    union element *made = poolGet(leaves);
    made->leaf.nibble = -1;
    strcpy(made->leaf.key, line);
    root->node.down[line[0] & 15] = made;
  }
  return 0;
}
