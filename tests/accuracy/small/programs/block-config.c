// Nested blocks, a tree with parents, the current block in a local; words by strsep.
// load: conf_parse
// must: block directive
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct directive { char *name; int argc; char **argv; struct directive *next; };
struct block { char *name; struct block *parent, *child, *sibling; struct directive *first, *last; };
static struct block *block_enter(struct block *in, const char *name) {
  struct block *b = calloc(1, sizeof(struct block));
  b->name = strdup(name);
  b->parent = in;
  if (in) {
    b->sibling = in->child;
    in->child = b;
  }
  return b;
}
static void add_directive(struct block *in, char *line) {
  struct directive *d = calloc(1, sizeof(struct directive));
  char *word;
  while ((word = strsep(&line, " \t")) != NULL) {
    if (!*word)
      continue;
    if (!d->name) {
      d->name = strdup(word);
      continue;
    }
    d->argv = realloc(d->argv, (d->argc + 1) * sizeof(char *));
    d->argv[d->argc++] = strdup(word);
  }
  if (in->last)
    in->last->next = d;
  else
    in->first = d;
  in->last = d;
}
struct block *conf_parse(FILE *f) {
  struct block *root = block_enter(NULL, "root"), *cur = root;
  char line[1024];
  while (fgets(line, sizeof line, f)) {
    char *end = line + strcspn(line, ";{}\n");
    char stop = *end;
    *end = 0;
    if (stop == '{')
      cur = block_enter(cur, line);
    else if (stop == '}')
      cur = cur->parent ? cur->parent : cur;
    else if (*line)
      add_directive(cur, line);
  }
  return root;
}
