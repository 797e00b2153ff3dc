// One container serves texts and records, each with a comparison of its own type, cast to one that
// takes void pointers. A text that reaches the comparison of records is no record: characters
// become one by a cast of the pointer alone. Wrong: 'place' reported, of whom the load makes none.
// RUN: %scan --format=json --load load %s -- -std=gnu99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*compare)(const void *, const void *);
struct table { // CHECK: table [[@LINE]]
  compare same;
  int n;
  void *keys[64];
};
struct place {
  int x, y;
};
static struct table *tables[2];
static int same_place(const struct place *a, const struct place *b) {
  return a->x == b->x && a->y == b->y;
}
static int same_text(const char *a, const char *b) { return !strcmp(a, b); }
static void add(struct table *t, void *key) {
  for (int i = 0; i < t->n; i++)
    if (t->same(t->keys[i], key))
      return;
  t->keys[t->n++] = key;
}
static char *copy(const char *text) {
  char *made = malloc(strlen(text) + 1);
  strcpy(made, text);
  return made;
}
void load(FILE *f) {
  char word[80];
  int which;
  for (int i = 0; i < 2; i++) {
    tables[i] = calloc(1, sizeof(struct table));
    tables[i]->same = i ? (compare)same_text : (compare)same_place;
  }
  while (fscanf(f, "%d %79s", &which, word) == 2)
    add(tables[which & 1], copy(word));
}
