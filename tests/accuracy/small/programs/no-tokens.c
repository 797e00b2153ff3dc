// Tokens live in a list until the parser has used them.
// load: load_routes
// must: hop
// never: token
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct token { char *text; struct token *next; };
struct hop { char *from, *to; struct hop *next; };
static struct hop *hops;
static struct token *tokens;
static void tokenize(char *line) {
  struct token **at = &tokens;
  for (char *w = strtok(line, " \n"); w; w = strtok(NULL, " \n")) {
    *at = calloc(1, sizeof **at);
    (*at)->text = strdup(w);
    at = &(*at)->next;
  }
}
static char *shift(void) {
  struct token *t = tokens;
  char *s = t ? t->text : NULL;
  if (t) {
    tokens = t->next;
    free(t);
  }
  return s;
}
void load_routes(FILE *f) {
  char line[300];
  while (fgets(line, sizeof line, f)) {
    tokenize(line);
    struct hop *h = malloc(sizeof *h);
    h->from = shift();
    h->to = shift();
    h->next = hops;
    hops = h;
    while (tokens)
      free(shift());
  }
}
