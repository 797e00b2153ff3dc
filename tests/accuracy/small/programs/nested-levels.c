// Arrays in arrays: a level has rooms, a room has exits, all sized by the file.
// load: world_read
// must: level room exit_to
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct exit_to { int room; char locked; };
struct room { char *title; int nexits; struct exit_to *exits; };
struct level { int depth, nrooms; struct room *rooms; };
static struct level **levels;
static int nlevels;
static char *read_text(FILE *f) {
  size_t cap = 0;
  char *s = NULL;
  ssize_t n = getline(&s, &cap, f);
  if (n < 0) {
    free(s);
    return NULL;
  }
  if (n && s[n - 1] == '\n')
    s[n - 1] = 0;
  return s;
}
static int read_int(FILE *f) {
  char *s = read_text(f);
  int v = s ? atoi(s) : -1;
  free(s);
  return v;
}
static void read_room(struct room *r, FILE *f) {
  r->title = read_text(f);
  r->nexits = read_int(f);
  r->exits = malloc(r->nexits * sizeof(struct exit_to));
  for (int i = 0; i < r->nexits; i++) {
    r->exits[i].room = read_int(f);
    r->exits[i].locked = (char)read_int(f);
  }
}
static struct level *read_level(FILE *f) {
  struct level *l = malloc(sizeof *l);
  l->depth = read_int(f);
  l->nrooms = read_int(f);
  l->rooms = malloc(l->nrooms * sizeof *l->rooms);
  for (struct room *r = l->rooms; r != l->rooms + l->nrooms; r++)
    read_room(r, f);
  return l;
}
int world_read(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f)
    return 0;
  nlevels = read_int(f);
  levels = calloc(nlevels, sizeof *levels);
  for (int i = 0; i < nlevels; i++)
    levels[i] = read_level(f);
  fclose(f);
  return 1;
}
