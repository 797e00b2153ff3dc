// A filter: main reads standard input and keeps counts of words in a treap.
// load: main
// must: word
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct word { char *text; unsigned long count; unsigned prio; struct word *kid[2]; };
static struct word *add(struct word *w, const char *s) {
  if (!w) {
    w = calloc(1, sizeof *w);
    w->text = strdup(s);
    w->prio = (unsigned)rand();
    w->count = 1;
    return w;
  }
  int c = strcmp(s, w->text);
  if (!c) {
    w->count++;
    return w;
  }
  int d = c > 0;
  w->kid[d] = add(w->kid[d], s);
  if (w->kid[d]->prio > w->prio) {
    struct word *k = w->kid[d];
    w->kid[d] = k->kid[!d];
    k->kid[!d] = w;
    return k;
  }
  return w;
}
static struct word *words;
static void show(const struct word *w) {
  if (!w)
    return;
  show(w->kid[0]);
  printf("%7lu %s\n", w->count, w->text);
  show(w->kid[1]);
}
int main(void) {
  char buf[128];
  int c, n = 0;
  while ((c = getchar()) != EOF) {
    if (isalpha(c) && n < 127) {
      buf[n++] = (char)tolower(c);
      continue;
    }
    buf[n] = 0;
    if (n)
      words = add(words, buf);
    n = 0;
  }
  show(words);
  return 0;
}
