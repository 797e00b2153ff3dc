// Include frames: freed by a loop over the global at the end.
// load: load_conf
// must: directive
// never: frame
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct frame { char *file; int line; struct frame *up; };
struct directive { char *word; struct directive *next; };
static struct frame *frames;
static struct directive *directives;
static void enter(const char *file) {
  struct frame *n = malloc(sizeof *n);
  n->file = strdup(file);
  n->line = 0;
  n->up = frames;
  frames = n;
}
int load_conf(const char *path) {
  char w[80];
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  enter(path);
  while (fscanf(f, "%79s", w) == 1) {
    frames->line++;
    if (!strcmp(w, "include")) {
      fscanf(f, "%79s", w);
      enter(w);
      continue;
    }
    struct directive *d = malloc(sizeof *d);
    d->word = strdup(w);
    d->next = directives;
    directives = d;
  }
  while (frames) {
    struct frame *t = frames->up;
    free(frames->file);
    free(frames);
    frames = t;
  }
  return fclose(f);
}
