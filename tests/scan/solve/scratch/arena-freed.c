// Tokens come from an arena that is released as a whole when the load ends; the tree does not.
// FINDINGS: scratch falls away, also when nobody frees it piece by piece.
// Wrong: 'token' or 'arena' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct arena {
  char *memory;
  size_t used;
};
static void *arenaGet(struct arena *a, size_t size) {
  void *result = a->memory + a->used;
  a->used += (size + 15) & ~(size_t)15;
  return result;
}

struct token {
  int kind;
  long value;
  struct token *next;
};
struct sum { // CHECK: sum [[@LINE]]
  long value;
  struct sum *next;
};
static struct sum *sums;

static struct token *tokens(struct arena *a, FILE *f) {
  struct token *first = NULL, *t;
  int c;
  while ((c = getc(f)) != EOF && c != '\n') {
    t = arenaGet(a, sizeof *t);
    t->kind = c;
    t->value = c - '0';
    t->next = first;
    first = t;
  }
  return first;
}

int load(const char *path) {
  struct arena a = {malloc(1 << 16), 0};
  FILE *f = fopen(path, "r");
  while (!feof(f)) {
    struct token *t;
    struct sum *s = calloc(1, sizeof *s);
    for (t = tokens(&a, f); t; t = t->next)
      s->value += t->value;
    s->next = sums;
    sums = s;
    a.used = 0;
  }
  free(a.memory);
  fclose(f);
  return 0;
}
