// A parser on the heap hands out tokens that lie in its own buffer; one is kept in a global.
// Interior pointers belong to their container, unless they are text in the middle of a record.
// Wrong: 'parser' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
  const char *text;
  char token[64];
  unsigned at;
};
struct word { // CHECK: word [[@LINE]]
  char *text;
  struct word *next;
};
static struct word *words;
static const char *last;

static const char *next(struct parser *p) {
  unsigned n = 0;
  while (p->text[p->at] > ' ' && n < sizeof p->token - 1)
    p->token[n++] = p->text[p->at++];
  p->token[n] = 0;
  return n ? p->token : NULL;
}

static void parse(FILE *f) {
  char *buffer = malloc(4096);
  struct parser *p = calloc(1, sizeof *p);
  buffer[fread(buffer, 1, 4095, f)] = 0;
  p->text = buffer;
  while ((last = next(p))) {
    struct word *w = malloc(sizeof *w);
    w->text = strdup(last);
    w->next = words;
    words = w;
  }
  free(p);
  free(buffer);
}

int load(const char *path) {
  FILE *f = fopen(path, "r");
  parse(f);
  fclose(f);
  return 0;
}
