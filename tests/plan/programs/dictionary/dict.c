#include "kv.h"
#include <stdlib.h>
#include <string.h>
static unsigned hashs(const char *s) {
  unsigned h = 5381;
  while (*s)
    h = h * 33 + (unsigned char)*s++;
  return h;
}
struct dict *dict_new(void) {
  struct dict *d = xmalloc(sizeof *d);
  d->size = 4;
  d->used = 0;
  d->tab = xcalloc(d->size, sizeof *d->tab);
  return d;
}
static void resize(struct dict *d) {
  size_t n = d->size * 2;
  struct ent **t = xcalloc(n, sizeof *t);
  for (size_t i = 0; i < d->size; i++)
    for (struct ent *e = d->tab[i], *nx; e; e = nx) {
      nx = e->next;
      e->next = t[e->hash % n];
      t[e->hash % n] = e;
    }
  free(d->tab);
  d->tab = t;
  d->size = n;
}
struct ent *dict_get(struct dict *d, const char *k) {
  unsigned h = hashs(k);
  for (struct ent *e = d->tab[h % d->size]; e; e = e->next)
    if (e->hash == h && !strcmp(e->key, k))
      return e;
  return NULL;
}
void dict_put(struct dict *d, const char *k, const char *v) {
  struct ent *e = dict_get(d, k);
  if (e) {
    free(e->val);
    e->val = xstrdup(v);
    e->vlen = strlen(v);
    return;
  }
  if (d->used >= d->size)
    resize(d);
  e = xmalloc(sizeof *e);
  e->hash = hashs(k);
  e->key = xstrdup(k);
  e->val = xstrdup(v);
  e->vlen = strlen(v);
  e->next = d->tab[e->hash % d->size];
  d->tab[e->hash % d->size] = e;
  d->used++;
}
int dict_del(struct dict *d, const char *k) {
  unsigned h = hashs(k);
  for (struct ent **p = &d->tab[h % d->size]; *p; p = &(*p)->next)
    if (!strcmp((*p)->key, k)) {
      struct ent *e = *p;
      *p = e->next;
      free(e->key);
      free(e->val);
      free(e);
      d->used--;
      return 1;
    }
  return 0;
}
