// A hash table made by a macro for each pair of types, open addressing, keys and values in arrays.
// load: load_scores
// must: table_score player
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HASH_INIT(name, V)                                                                         \
  struct table_##name { uint32_t cap, used; char **keys; V *vals; };                               \
  static struct table_##name *name##_new(void) { return calloc(1, sizeof(struct table_##name)); }  \
  static uint32_t name##_slot(const struct table_##name *t, const char *key) {                     \
    uint32_t h = 5381;                                                                             \
    for (const char *s = key; *s; s++)                                                             \
      h = h * 33 + (unsigned char)*s;                                                              \
    while (t->keys[h & (t->cap - 1)] && strcmp(t->keys[h & (t->cap - 1)], key))                    \
      h++;                                                                                         \
    return h & (t->cap - 1);                                                                       \
  }                                                                                                \
  static void name##_resize(struct table_##name *t, uint32_t cap) {                                \
    struct table_##name old = *t;                                                                  \
    t->cap = cap;                                                                                  \
    t->keys = calloc(cap, sizeof *t->keys);                                                        \
    t->vals = calloc(cap, sizeof *t->vals);                                                        \
    for (uint32_t i = 0; i < old.cap; i++)                                                         \
      if (old.keys[i]) {                                                                           \
        uint32_t at = name##_slot(t, old.keys[i]);                                                 \
        t->keys[at] = old.keys[i];                                                                 \
        t->vals[at] = old.vals[i];                                                                 \
      }                                                                                            \
    free(old.keys);                                                                                \
    free(old.vals);                                                                                \
  }                                                                                                \
  static V *name##_put(struct table_##name *t, const char *key) {                                  \
    if (t->used * 4 >= t->cap * 3)                                                                 \
      name##_resize(t, t->cap ? t->cap * 2 : 16);                                                  \
    uint32_t at = name##_slot(t, key);                                                             \
    if (!t->keys[at]) {                                                                            \
      t->keys[at] = strdup(key);                                                                   \
      t->used++;                                                                                   \
    }                                                                                              \
    return &t->vals[at];                                                                           \
  }
struct player { int wins, losses; double rating; };
HASH_INIT(score, struct player)
static struct table_score *scores;
int load_scores(FILE *in) {
  char name[64];
  int w, l;
  double r;
  if (!scores)
    scores = score_new();
  while (fscanf(in, "%63s %d %d %lf", name, &w, &l, &r) == 4) {
    struct player *p = score_put(scores, name);
    p->wins = w;
    p->losses = l;
    p->rating = r;
  }
  return scores->used;
}
