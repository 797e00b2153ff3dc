// Two load functions, one for each file.
// load: load_groups load_members
// must: group membership
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct membership { int uid; struct membership *next; };
struct group { char name[32]; struct membership *in; struct group *next; };
static struct group *groups;
static struct group *find(const char *n) {
  struct group *g = groups;
  while (g && strcmp(g->name, n))
    g = g->next;
  return g;
}
int load_groups(const char *p) {
  FILE *f = fopen(p, "r");
  char n[32];
  while (f && fscanf(f, "%31s", n) == 1) {
    struct group *g = calloc(1, sizeof *g);
    strcpy(g->name, n);
    g->next = groups;
    groups = g;
  }
  return f ? fclose(f) : -1;
}
int load_members(const char *p) {
  FILE *f = fopen(p, "r");
  char n[32];
  int uid;
  while (f && fscanf(f, "%31s %d", n, &uid) == 2) {
    struct group *g = find(n);
    if (!g)
      continue;
    struct membership *m = malloc(sizeof *m);
    m->uid = uid;
    m->next = g->in;
    g->in = m;
  }
  return f ? fclose(f) : -1;
}
