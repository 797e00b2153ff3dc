#include "a.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static struct {
  struct city *first, **last;
  int n;
} m;
int city_ids = 1;
struct city *cities(void) { return m.first; }
int n_cities(void) { return m.n; }
struct city *city(const char *name, int mk) {
  struct city *c;
  for (c = m.first; c; c = c->next)
    if (!strcmp(c->name, name))
      return c;
  if (!mk)
    return NULL;
  if (!m.last)
    m.last = &m.first;
  c = calloc(1, sizeof *c);
  c->name = malloc(strlen(name) + 1);
  strcpy(c->name, name);
  c->id = city_ids;
  city_ids = city_ids + 1;
  c->conf = &conf;
  *m.last = c;
  m.last = &c->next;
  m.n += 1;
  return c;
}
void road(struct city *a, struct city *b, unsigned km) {
  for (int i = 0; i < 2; i++) {
    struct road *r = malloc(sizeof(struct road));
    *r = (struct road){a->roads, b, km};
    a->roads = r;
    struct city *t = a;
    a = b;
    b = t;
  }
}
void map_dump(void (*f)(const char *)) {
  char b[200];
  for (struct city *c = m.first; c; c = c->next) {
    snprintf(b, sizeof b, "%d:%s%s/%d", c->id, c->conf->prefix ? c->conf->prefix : "", c->name,
             c->conf->max_km);
    for (struct road *r = c->roads; r; r = r->next)
      snprintf(b + strlen(b), sizeof b - strlen(b), ">%s%u", r->to->name, r->km);
    f(b);
  }
}
