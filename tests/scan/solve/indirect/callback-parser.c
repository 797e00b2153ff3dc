// A parser library is given callbacks and pieces of the file; the callbacks build the objects.
// Library callbacks with user data.
// Wrong: 'element' missed (called from code that is not there), 'builder' (stack) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lib_parser lib_parser;
lib_parser *lib_parser_new(void);
void lib_parser_user(lib_parser *p, void *user);
void lib_parser_handlers(lib_parser *p, void (*start)(void *user, const char *name),
                         void (*end)(void *user, const char *name));
int lib_parser_feed(lib_parser *p, const char *bytes, int size);
void lib_parser_free(lib_parser *p);

struct element { // CHECK: element [[@LINE]]
  char *name;
  struct element *parent, *children, *next;
};
struct builder {
  struct element *current;
  int depth;
};
static struct element *document;

static void start(void *user, const char *name) {
  struct builder *b = user;
  struct element *e = calloc(1, sizeof *e);
  e->name = strdup(name);
  e->parent = b->current;
  if (b->current) {
    e->next = b->current->children;
    b->current->children = e;
  } else {
    document = e;
  }
  b->current = e;
  ++b->depth;
}
static void end(void *user, const char *name) {
  struct builder *b = user;
  (void)name;
  b->current = b->current->parent;
  --b->depth;
}

int load(const char *path) {
  char bytes[4096];
  int n;
  struct builder b = {NULL, 0};
  lib_parser *p = lib_parser_new();
  FILE *f = fopen(path, "r");
  lib_parser_user(p, &b);
  lib_parser_handlers(p, start, end);
  while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
    lib_parser_feed(p, bytes, n);
  lib_parser_free(p);
  fclose(f);
  return 0;
}
