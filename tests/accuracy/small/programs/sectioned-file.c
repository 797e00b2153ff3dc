// Sections are opened by a call without input; later lines fill them.
// load: load_ini
// must: section pair
// either: ini
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { char *k, *v; };
struct section { char *name; struct pair *pairs; int n; };
struct ini { struct section *s; int n; };
static void new_section(struct ini *c) {
  c->s = realloc(c->s, (c->n + 1) * sizeof *c->s);
  memset(&c->s[c->n++], 0, sizeof *c->s);
}
static void new_pair(struct section *s) {
  s->pairs = realloc(s->pairs, (s->n + 1) * sizeof *s->pairs);
  s->n++;
}
int load_ini(struct ini *c, const char *path) {
  char line[256], k[64], v[128];
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "[%63[^]]]", k) == 1) {
      new_section(c);
      c->s[c->n - 1].name = strdup(k);
    } else if (c->n && sscanf(line, "%63[^=]=%127[^\n]", k, v) == 2) {
      struct section *s = &c->s[c->n - 1];
      new_pair(s);
      s->pairs[s->n - 1].k = strdup(k);
      s->pairs[s->n - 1].v = strdup(v);
    }
  }
  fclose(f);
  return 0;
}
