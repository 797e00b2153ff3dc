// A debugging allocator: macros pass file, line and function; a header with a magic number stands
// in front of each block.
// Allocation wrappers: with file/line arguments.
// Wrong: 'node' missed, every block typed as 'blockHeader' only. The header may go either way.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct blockHeader { // either
  unsigned magic, line;
  size_t size;
  const char *file;
};
static void *debugAlloc(const char *file, int line, size_t size) {
  struct blockHeader *h = malloc(sizeof *h + size);
  h->magic = 0xa110c;
  h->size = size;
  h->file = file;
  h->line = line;
  return h + 1;
}
static void debugFree(const char *file, int line, void *p) {
  struct blockHeader *h = (struct blockHeader *)p - 1;
  if (h->magic != 0xa110c)
    fprintf(stderr, "%s:%d: bad block\n", file, line);
  free(h);
}
#define ALLOC(n) debugAlloc(__FILE__, __LINE__, (n))
#define FREE(p) debugFree(__FILE__, __LINE__, (p))

struct node { // CHECK: node [[@LINE]]
  int key;
  struct node *next;
};
struct token {
  int kind;
  char text[16];
};
static struct node *list;

int load(const char *path) {
  FILE *f = fopen(path, "r");
  struct token *t = ALLOC(sizeof *t);
  while (fscanf(f, "%d %15s", &t->kind, t->text) == 2) {
    struct node *n = ALLOC(sizeof *n);
    n->key = t->kind;
    n->next = list;
    list = n;
  }
  FREE(t);
  fclose(f);
  return 0;
}
