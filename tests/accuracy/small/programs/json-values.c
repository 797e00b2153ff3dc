// A tagged union, recursive descent over a text in memory.
// load: js_read
// must: js member
// never: scanner
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct js js;
struct member { char *key; js *value; };
struct js { enum { NUL, NUM, STR, ARR, OBJ } kind; union { double num; char *str; struct { js **v; size_t n; } arr; struct { struct member *m; size_t n; } obj; }; };
struct scanner { const char *at; int depth; };
static js *value(struct scanner *s);
static char *string(struct scanner *s) {
  const char *from = ++s->at;
  while (*s->at && *s->at != '"')
    s->at++;
  char *made = strndup(from, s->at - from);
  if (*s->at)
    s->at++;
  return made;
}
static void space(struct scanner *s) { while (isspace((unsigned char)*s->at) || *s->at == ',' || *s->at == ':') s->at++; }
static js *value(struct scanner *s) {
  js *j = calloc(1, sizeof *j);
  space(s);
  switch (*s->at) {
  case '"':
    j->kind = STR;
    j->str = string(s);
    break;
  case '[':
    j->kind = ARR;
    for (s->at++, space(s); *s->at && *s->at != ']'; space(s)) {
      j->arr.v = realloc(j->arr.v, (j->arr.n + 1) * sizeof *j->arr.v);
      j->arr.v[j->arr.n++] = value(s);
    }
    s->at++;
    break;
  case '{':
    j->kind = OBJ;
    for (s->at++, space(s); *s->at == '"'; space(s)) {
      j->obj.m = realloc(j->obj.m, (j->obj.n + 1) * sizeof *j->obj.m);
      j->obj.m[j->obj.n].key = string(s);
      space(s);
      j->obj.m[j->obj.n++].value = value(s);
    }
    s->at++;
    break;
  default: {
    char *end;
    j->kind = NUM;
    j->num = strtod(s->at, &end);
    s->at = end > s->at ? end : s->at + 1;
  }
  }
  return j;
}
js *js_read(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *text = malloc(n + 1);
  text[fread(text, 1, n, f)] = 0;
  fclose(f);
  struct scanner s = {text, 0};
  js *j = value(&s);
  free(text);
  return j;
}
