// A dictionary made by the load, whose method is one of many that dictionaries have; others may
// have been there before.
// Wrong: 'entry' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dict { // CHECK: dict [[@LINE]]
  int (*update)(struct dict *, const char *key, const char *value);
  void *entries;
};
struct entry { // CHECK: entry [[@LINE]]
  char *key, *value;
  struct entry *next;
};
static struct dict *dicts[4];

static int list_update(struct dict *d, const char *key, const char *value) {
  struct entry *e = malloc(sizeof *e);
  e->key = strdup(key);
  e->value = strdup(value);
  e->next = d->entries;
  d->entries = e;
  return 0;
}
static struct dict *list_open(void) {
  struct dict *d = malloc(sizeof *d);
  d->update = list_update;
  d->entries = NULL;
  return d;
}

#define OTHER(n)                                                                                   \
  static int update##n(struct dict *d, const char *key, const char *value) { return n; }           \
  struct dict *open##n(void) {                                                                     \
    struct dict *d = malloc(sizeof *d);                                                            \
    d->update = update##n;                                                                         \
    return d;                                                                                      \
  }
OTHER(1) OTHER(2) OTHER(3) OTHER(4) OTHER(5) OTHER(6) OTHER(7) OTHER(8) OTHER(9)

static int next_line(char *line, size_t size, FILE *f) {
  size_t at = 0;
  int c;
  while ((c = getc(f)) != EOF && c != '\n' && at + 1 < size)
    line[at++] = c;
  line[at] = 0;
  return at != 0;
}

void load(const char *path, int number) {
  char *line = malloc(80);
  FILE *f = fopen(path, "r");
  struct dict *d = dicts[number];
  if (!d)
    d = dicts[number] = list_open();
  while (next_line(line, 80, f)) {
    char *value = strchr(line, '=');
    if (value)
      d->update(d, line, value);
  }
  free(line);
  fclose(f);
}
