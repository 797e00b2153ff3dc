// A lexer keeps the token it looks at in one static record; only the rules stay.
// load: rules_parse
// must: rewrite
// never: lexer
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum token { T_END, T_WORD, T_ARROW, T_NUMBER };
static struct lexer { FILE *in; int line; enum token tok; char word[64]; long number; int pushed; } L;
struct rewrite { char *from, *to; long weight; struct rewrite *next; };
static struct rewrite *rewrites;
static enum token next(void) {
  int c = L.pushed ? L.pushed : getc(L.in), n = 0;
  L.pushed = 0;
  while (isspace(c)) {
    if (c == '\n')
      L.line++;
    c = getc(L.in);
  }
  if (c == EOF)
    return L.tok = T_END;
  if (c == '-') {
    getc(L.in);
    return L.tok = T_ARROW;
  }
  if (isdigit(c)) {
    for (L.number = 0; isdigit(c); c = getc(L.in))
      L.number = L.number * 10 + c - '0';
    L.pushed = c;
    return L.tok = T_NUMBER;
  }
  for (; c != EOF && !isspace(c) && n < 63; c = getc(L.in))
    L.word[n++] = (char)c;
  L.word[n] = 0;
  L.pushed = c == EOF ? 0 : c;
  return L.tok = T_WORD;
}
static int rule(void) {
  struct rewrite *r;
  if (L.tok != T_WORD)
    return 0;
  r = calloc(1, sizeof *r);
  r->from = strdup(L.word);
  if (next() != T_ARROW || next() != T_WORD) {
    fprintf(stderr, "line %d: bad rule\n", L.line);
    free(r->from);
    free(r);
    return 0;
  }
  r->to = strdup(L.word);
  if (next() == T_NUMBER) {
    r->weight = L.number;
    next();
  }
  r->next = rewrites;
  rewrites = r;
  return 1;
}
int rules_parse(const char *path) {
  if (!(L.in = fopen(path, "r")))
    return -1;
  next();
  while (rule())
    ;
  fclose(L.in);
  L.in = NULL;
  return L.tok == T_END ? 0 : -1;
}
