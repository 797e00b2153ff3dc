// Parsing uses an arena that is thrown away whole; results are copied out of it.
// load: recipes_load
// must: recipe
// never: arena tok
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct arena { char *base; size_t used, size; };
struct tok { char *text; struct tok *next; };
struct recipe { char *title; int n; char *steps[10]; struct recipe *next; };
static struct recipe *book;
static void *arena_get(struct arena *a, size_t n) {
  n = (n + 7) & ~(size_t)7;
  if (a->used + n > a->size)
    return NULL;
  void *p = a->base + a->used;
  a->used += n;
  return p;
}
static struct tok *split(struct arena *a, const char *line) {
  struct tok *first = NULL, **tail = &first;
  while (*line) {
    size_t n = strcspn(line, "|\n");
    struct tok *t = arena_get(a, sizeof *t);
    if (!t)
      break;
    t->text = arena_get(a, n + 1);
    memcpy(t->text, line, n);
    t->text[n] = 0;
    t->next = NULL;
    *tail = t;
    tail = &t->next;
    line += n + (line[n] != 0);
  }
  return first;
}
int recipes_load(const char *path) {
  char line[4096];
  struct arena a = {malloc(65536), 0, 65536};
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    a.used = 0;
    struct tok *t = split(&a, line);
    if (!t)
      continue;
    struct recipe *r = calloc(1, sizeof *r);
    r->title = strdup(t->text);
    for (t = t->next; t && r->n < 10; t = t->next)
      r->steps[r->n++] = strdup(t->text);
    r->next = book;
    book = r;
  }
  free(a.base);
  return f ? fclose(f) : -1;
}
