// A value tree held by value: lists grow by realloc, the file was read into one block first.
// load: bn_load
// must: bn
// never: cursor
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum bn_kind { BN_INT, BN_STR, BN_LIST, BN_DICT };
struct bn {
  enum bn_kind kind;
  union { int64_t num; struct { char *s; size_t len; } str; struct { struct bn *v; size_t n; } list; } u;
};
struct cursor { const char *p, *end; int err; };
static int value(struct cursor *c, struct bn *out);
static int string(struct cursor *c, struct bn *out) {
  char *colon;
  size_t n = strtoul(c->p, &colon, 10);
  if (*colon != ':' || (size_t)(c->end - colon - 1) < n)
    return c->err = 1;
  out->kind = BN_STR;
  out->u.str.s = malloc(n + 1);
  memcpy(out->u.str.s, colon + 1, n);
  out->u.str.s[n] = 0;
  out->u.str.len = n;
  c->p = colon + 1 + n;
  return 0;
}
static int list(struct cursor *c, struct bn *out, enum bn_kind kind) {
  size_t cap = 0;
  out->kind = kind;
  out->u.list.v = NULL;
  out->u.list.n = 0;
  for (c->p++; c->p < c->end && *c->p != 'e';) {
    if (out->u.list.n == cap) {
      cap = cap ? cap * 2 : 4;
      struct bn *grown = realloc(out->u.list.v, cap * sizeof *grown);
      if (!grown)
        return c->err = 1;
      out->u.list.v = grown;
    }
    if (value(c, &out->u.list.v[out->u.list.n]))
      return 1;
    out->u.list.n++;
  }
  c->p++;
  return 0;
}
static int value(struct cursor *c, struct bn *out) {
  if (c->p >= c->end)
    return c->err = 1;
  switch (*c->p) {
  case 'i': {
    char *e;
    out->kind = BN_INT;
    out->u.num = strtoll(c->p + 1, &e, 10);
    c->p = e + 1;
    return 0;
  }
  case 'l': return list(c, out, BN_LIST);
  case 'd': return list(c, out, BN_DICT);
  default: return string(c, out);
  }
}
struct bn *bn_load(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *buf = malloc(n + 1);
  n = fread(buf, 1, n, f);
  buf[n] = 0;
  fclose(f);
  struct cursor c = {buf, buf + n, 0};
  struct bn *root = calloc(1, sizeof *root);
  if (value(&c, root)) {
    free(root);
    root = NULL;
  }
  free(buf);
  return root;
}
