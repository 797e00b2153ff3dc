// Objects are kept only in containers of a library whose types are opaque.
// FINDINGS: "containers of external libraries".
// Wrong: 'country' (value) or 'city' (looked up and linked) missed; 'query' (never stored) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

typedef struct lib_map lib_map;
typedef struct lib_list lib_list;
lib_map *lib_map_new(unsigned (*hash)(const void *), int (*same)(const void *, const void *));
void lib_map_insert(lib_map *map, void *key, void *value);
void *lib_map_lookup(lib_map *map, const void *key);
lib_list *lib_list_append(lib_list *list, void *value);

struct country { // CHECK: country [[@LINE]]
  char code[4];
  lib_list *cities;
};
struct city { // CHECK: city [[@LINE]]
  int people;
  char name[32];
};
struct query {
  char code[4];
  int strict;
};
static lib_map *countries;

static unsigned hashCode(const void *key) { return *(const unsigned *)key; }
static int sameCode(const void *a, const void *b) { return hashCode(a) == hashCode(b); }

static struct country *find(const char *code, int strict) {
  struct query *q = malloc(sizeof *q);
  struct country *c;
  snprintf(q->code, sizeof q->code, "%s", code);
  q->strict = strict;
  c = lib_map_lookup(countries, q->code);
  free(q);
  return c;
}

int load(const char *path) {
  char code[4], name[32];
  int people;
  FILE *f = fopen(path, "r");
  countries = lib_map_new(hashCode, sameCode);
  while (fscanf(f, "%3s %31s %d", code, name, &people) == 3) {
    struct country *c = find(code, 1);
    struct city *t = malloc(sizeof *t);
    if (!c) {
      c = calloc(1, sizeof *c);
      snprintf(c->code, sizeof c->code, "%s", code);
      lib_map_insert(countries, c->code, c);
    }
    t->people = people;
    snprintf(t->name, sizeof t->name, "%s", name);
    c->cities = lib_list_append(c->cities, t);
  }
  fclose(f);
  return 0;
}
