// A lexer that keeps its file in a static record, beside the token it looks at. Functions that take nothing
// and read from there are part of the load; the record itself is the reader's.
// Wrong: 'rule' missed; 'lexer' reported as filled in place; 'style' reported, of whom nobody reads.
// RUN: %scan --format=json --load load %s -- -std=gnu99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lexer {
  int line;
  FILE *in;
  char word[32];
  int number;
  int kind;
} L;
struct rule { // CHECK: rule [[@LINE]]
  char *name;
  int number;
  struct rule *next;
};
static struct rule *rules;
struct style {
  int width;
  int line;
};
static struct style *current;
static int next(void) {
  L.line++;
  if (fscanf(L.in, "%d", &L.number) == 1)
    return L.kind = 1;
  L.kind = fscanf(L.in, "%31s", L.word) == 1 ? 2 : 0;
  return L.kind;
}
static void restyle(void) {
  current = malloc(sizeof *current);
  current->line = L.line;
}
static int rule(void) {
  if (L.kind != 2)
    return 0;
  struct rule *r = malloc(sizeof *r);
  r->name = strdup(L.word);
  r->number = next() == 1 ? L.number : 0;
  r->next = rules;
  rules = r;
  next();
  return 1;
}
int load(const char *path) {
  L.in = fopen(path, "r");
  restyle();
  next();
  while (rule())
    ;
  fclose(L.in);
  return 0;
}
