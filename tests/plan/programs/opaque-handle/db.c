/* opaque handle, object passed by pointer */
#include "db.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct db {
  struct note *notes;
  int next, count;
};
struct db *db_open(void) {
  struct db *d = calloc(1, sizeof *d);
  d->next = 1;
  return d;
}
static struct note *mk(struct db *d, int id, const char *t) {
  struct note *n = malloc(sizeof *n);
  n->id = id;
  n->text = strdup(t);
  n->next = d->notes;
  d->notes = n;
  d->count++;
  if (id >= d->next)
    d->next = id + 1;
  return n;
}
int db_load(struct db *d, const char *p) {
  FILE *f = fopen(p, "r");
  int id;
  char t[80];
  if (!f)
    return -1;
  while (fscanf(f, "%d %79s", &id, t) == 2)
    mk(d, id, t);
  fclose(f);
  return 0;
}
int db_save(struct db *d, const char *p) {
  FILE *f = fopen(p, "w");
  if (!f)
    return -1;
  for (struct note *n = d->notes; n; n = n->next)
    fprintf(f, "%d %s\n", n->id, n->text);
  return fclose(f);
}
int db_add(struct db *d, const char *t) { return mk(d, d->next, t)->id; }
struct note *db_find(struct db *d, int id) {
  struct note *n = d->notes;
  while (n && n->id != id)
    n = n->next;
  return n;
}
int db_rm(struct db *d, int id) {
  for (struct note **p = &d->notes; *p; p = &(*p)->next)
    if ((*p)->id == id) {
      struct note *n = *p;
      *p = n->next;
      free(n->text);
      free(n);
      d->count--;
      return 1;
    }
  return 0;
}
int db_count(const struct db *d) { return d->count; }
