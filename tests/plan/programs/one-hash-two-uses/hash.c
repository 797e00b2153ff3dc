#include "hash.h"
#include <stdlib.h>
hash *hash_create(const hash_type *t) {
  hash *h = malloc(sizeof(*h));
  h->type = t;
  h->n = 4;
  h->used = 0;
  h->slots = calloc(h->n, sizeof(hash_entry *));
  return h;
}
static void grow(hash *h) {
  size_t n = h->n * 2;
  hash_entry **s = calloc(n, sizeof(hash_entry *));
  for (size_t i = 0; i < h->n; i++)
    while (h->slots[i]) {
      hash_entry *e = h->slots[i];
      h->slots[i] = e->next;
      size_t k = h->type->hash(e->key) % n;
      e->next = s[k];
      s[k] = e;
    }
  free(h->slots);
  h->slots = s;
  h->n = n;
}
static hash_entry **slot(hash *h, const void *k) {
  hash_entry **e = &h->slots[h->type->hash(k) % h->n];
  while (*e && !h->type->eq((*e)->key, k))
    e = &(*e)->next;
  return e;
}
void *hash_get(hash *h, const void *k) {
  hash_entry *e = *slot(h, k);
  return e ? e->val : NULL;
}
int hash_set(hash *h, const void *k, void *v) {
  hash_entry **e = slot(h, k);
  if (*e) {
    if (h->type->valfree)
      h->type->valfree((*e)->val);
    (*e)->val = v;
    return 0;
  }
  if (h->used >= h->n) {
    grow(h);
    e = slot(h, k);
  }
  *e = malloc(sizeof(hash_entry));
  (*e)->key = h->type->keydup ? h->type->keydup(k) : (void *)k;
  (*e)->val = v;
  (*e)->next = NULL;
  h->used++;
  return 1;
}
int hash_remove(hash *h, const void *k) {
  hash_entry **p = slot(h, k), *e = *p;
  if (!e)
    return 0;
  *p = e->next;
  if (h->type->valfree)
    h->type->valfree(e->val);
  if (h->type->keydup)
    free(e->key);
  free(e);
  h->used--;
  return 1;
}
