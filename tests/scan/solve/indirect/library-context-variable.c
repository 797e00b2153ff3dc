// A library keeps the address of a variable and hands it to the callbacks.
// Wrong: 'feed' missed.
// RUN: %scan --format=json --load load %s -- -std=gnu99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser *parser;
parser parser_new(void);
void parser_data(parser, void *);
void parser_handler(parser, void (*)(void *, const char *));
int parser_feed(parser, const char *, int);
struct feed { // CHECK: feed [[@LINE]]
  char *url;
  struct feed *next;
};
struct context {
  struct feed *all;
};
static struct context context;
static void start(void *data, const char *url) {
  struct context *c = data;
  struct feed *f = calloc(1, sizeof *f);
  f->url = strdup(url);
  f->next = c->all;
  c->all = f;
}
void load(const char *path) {
  char buffer[4096];
  int n;
  FILE *f = fopen(path, "r");
  parser p = parser_new();
  parser_data(p, &context);
  parser_handler(p, start);
  while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
    parser_feed(p, buffer, n);
  fclose(f);
}
