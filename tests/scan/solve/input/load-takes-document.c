// The load function is given a document that somebody else read; it looks values up by a formatted
// path. The only open in sight is five calls away and reads another file.
// FINDINGS rule 2: the input is an open near the load function, or what the load function is given.
// Wrong: 'settler' missed, or 'rule' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct document {
  struct entry {
    char path[32];
    int value;
  } *entries;
  unsigned count;
};
struct settler { // CHECK: settler [[@LINE]]
  int strength;
  struct settler *next;
};
struct rule {
  int cost;
  struct rule *next;
};
static struct settler *settlers;
static struct rule *rules;

__attribute__((format(printf, 3, 4))) static int lookup(const struct document *d, int *value,
                                                        const char *path, ...) {
  char wanted[32];
  unsigned i;
  va_list arguments;
  va_start(arguments, path);
  vsnprintf(wanted, sizeof wanted, path, arguments);
  va_end(arguments);
  for (i = 0; i < d->count; ++i)
    if (!strcmp(d->entries[i].path, wanted)) {
      *value = d->entries[i].value;
      return 1;
    }
  return 0;
}

static void rulesRead(const char *path) {
  FILE *f = fopen(path, "r");
  int cost;
  while (fscanf(f, "%d", &cost) == 1) {
    struct rule *r = malloc(sizeof *r);
    r->cost = cost;
    r->next = rules;
    rules = r;
  }
  fclose(f);
}
static void rulesOpen(const char *path) { rulesRead(path); }
static void rulesFind(void) { rulesOpen("rules"); }
static void rulesChoose(void) { rulesFind(); }
static void rulesLoad(void) { rulesChoose(); }

int load(struct document *d) {
  int i, count = 0;
  rulesLoad();
  lookup(d, &count, "settlers.count");
  for (i = 0; i < count; ++i) {
    struct settler *s = malloc(sizeof *s);
    lookup(d, &s->strength, "settlers.s%d.strength", i);
    s->next = settlers;
    settlers = s;
  }
  return count;
}
