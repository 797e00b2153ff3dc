// Everything comes from an arena of big chunks.
// load: doc_load
// must: block para
// either: arena chunk doc
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct chunk { struct chunk *prev; char *at, *end; };
struct arena { struct chunk *last; };
struct para { const char *text; struct para *next; };
struct block { int level; struct para *paras; struct block *next; };
struct doc { struct arena mem; struct block *blocks; };
static void *take(struct arena *a, size_t n) {
  n = (n + 15) & ~(size_t)15;
  if (!a->last || a->last->end - a->last->at < (long)n) {
    size_t size = n > 65536 ? n : 65536;
    struct chunk *c = malloc(sizeof *c + size);
    c->prev = a->last;
    c->at = (char *)(c + 1);
    c->end = c->at + size;
    a->last = c;
  }
  void *p = a->last->at;
  a->last->at += n;
  return p;
}
int doc_load(struct doc *d, FILE *f) {
  char line[1000];
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '#') {
      struct block *b = take(&d->mem, sizeof *b);
      b->level = (int)strspn(line, "#");
      b->paras = NULL;
      b->next = d->blocks;
      d->blocks = b;
    } else if (d->blocks) {
      struct para *p = take(&d->mem, sizeof *p);
      char *t = take(&d->mem, strlen(line) + 1);
      strcpy(t, line);
      p->text = t;
      p->next = d->blocks->paras;
      d->blocks->paras = p;
    }
  }
  return 0;
}
