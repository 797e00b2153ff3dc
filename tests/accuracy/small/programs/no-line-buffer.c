// A growing line buffer, kept from line to line.
// load: load_quotes
// must: quote
// never: linebuf
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct linebuf { char *text; size_t len, cap; };
struct quote { char *text; struct quote *next; };
static struct quote *quotes;
static struct linebuf *lb;
static int next_line(FILE *f) {
  int c;
  if (!lb)
    lb = calloc(1, sizeof *lb);
  lb->len = 0;
  while ((c = getc(f)) != EOF && c != '\n') {
    if (lb->len + 1 >= lb->cap)
      lb->text = realloc(lb->text, lb->cap = lb->cap * 2 + 64);
    lb->text[lb->len++] = c;
  }
  if (lb->text)
    lb->text[lb->len] = 0;
  return c != EOF;
}
void load_quotes(const char *p) {
  FILE *f = fopen(p, "r");
  while (f && next_line(f)) {
    struct quote *q = malloc(sizeof *q);
    q->text = strdup(lb->text);
    q->next = quotes;
    quotes = q;
  }
  if (f)
    fclose(f);
}
