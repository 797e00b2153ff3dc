// Callbacks in a table of the library, with user data that was handed over before the input.
// Wrong: 'element' missed.
// RUN: mkdir -p %t && printf 'typedef struct lib_parser lib_parser;\nstruct lib_hooks {\n  void (*start)(lib_parser *, const char *name, void *user);\n  void (*end)(lib_parser *, void *user);\n};\nlib_parser *lib_parser_new(const struct lib_hooks *, void *user);\nint lib_parser_feed(lib_parser *, const char *bytes, int size);\n' > %t/parser.h
// RUN: %scan --format=json --load load %s -- -isystem %t | %types
#include <parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct element { // CHECK: element [[@LINE]]
  char *name;
  struct element *next;
};
struct reader {
  lib_parser *parser;
  struct element **last;
};
static struct element *document;

static void start(lib_parser *p, const char *name, void *user) {
  struct reader *r = user;
  struct element *e = calloc(1, sizeof *e);
  e->name = strdup(name);
  *r->last = e;
}
static void end(lib_parser *p, void *user) {
  struct reader *r = user;
  r->last = &(*r->last)->next;
}
static struct lib_hooks hooks = {start, end};

int load(const char *path) {
  char bytes[4096];
  int n;
  struct reader r;
  FILE *f = fopen(path, "r");
  r.last = &document;
  r.parser = lib_parser_new(&hooks, &r);
  while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
    lib_parser_feed(r.parser, bytes, n);
  fclose(f);
  return 0;
}
