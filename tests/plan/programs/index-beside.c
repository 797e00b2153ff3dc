// An index that the load builds and the save does not look at.
//
// load: load
// save: save
// file: d
// data: 1 ann
// data: 2 bob
// command: add 3 cy
// command: add 4 dora
// ask: ?
// ask: get cy
// ask: get ann
// ask: get dora
// ask: add 5 ann
// ask: ?
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void reply(const char *s) {
  puts(s);
  fflush(stdout);
}
/* records in a list (saved), and a hash index of nodes beside them that the save never looks at */
struct rec {
  int id;
  char *name;
  struct rec *next;
};
struct node {
  struct rec *rec;
  struct node *next;
};
static struct rec *all;
static struct node *byname[8];
static unsigned h(const char *s) {
  unsigned x = 0;
  while (*s)
    x = x * 31 + *s++;
  return x % 8;
}
static void index_add(struct rec *r) {
  struct node *n = malloc(sizeof *n);
  n->rec = r;
  n->next = byname[h(r->name)];
  byname[h(r->name)] = n;
}
static struct rec *lookup(const char *s) {
  for (struct node *n = byname[h(s)]; n; n = n->next)
    if (!strcmp(n->rec->name, s))
      return n->rec;
  return NULL;
}
static struct rec *add(int id, const char *s) {
  struct rec *r = malloc(sizeof *r);
  r->id = id;
  r->name = strdup(s);
  r->next = all;
  all = r;
  index_add(r);
  return r;
}
static void load(void) {
  FILE *f = fopen("d", "r");
  int id;
  char s[40];
  if (!f)
    return;
  while (fscanf(f, "%d %39s", &id, s) == 2)
    add(id, s);
  fclose(f);
}
static void save(void) {
  FILE *f = fopen("d", "w");
  if (!f)
    return;
  for (struct rec *r = all; r; r = r->next)
    fprintf(f, "%d %s\n", r->id, r->name);
  fclose(f);
}
int main(void) {
  char b[100], s[40];
  int id;
  load();
  while (fgets(b, 80, stdin)) {
    if (sscanf(b, "add %d %39s", &id, s) == 2) {
      if (lookup(s))
        strcpy(b, "have it");
      else {
        add(id, s);
        strcpy(b, "ok");
      }
    } else if (sscanf(b, "get %39s", s) == 1) {
      struct rec *r = lookup(s);
      sprintf(b, "%d", r ? r->id : -1);
    } else {
      int n = 0;
      for (struct rec *r = all; r; r = r->next)
        n++;
      sprintf(b, "%d records", n);
    }
    reply(b);
  }
  save();
}
