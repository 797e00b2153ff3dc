// One file a record, found by scandir.
// load: load_notes
// must: note
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct note { char *title; char *text; size_t length; struct note *next; };
static struct note *notes;
static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }
static void load_note(const char *dir, const char *name) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "r");
  if (!f)
    return;
  struct note *n = calloc(1, sizeof *n);
  n->title = strdup(name);
  n->text = malloc(10000);
  n->length = fread(n->text, 1, 10000, f);
  fclose(f);
  n->next = notes;
  notes = n;
}
int load_notes(const char *dir) {
  struct dirent **names;
  int n = scandir(dir, &names, visible, alphasort);
  for (int i = 0; i < n; i++) {
    load_note(dir, names[i]->d_name);
    free(names[i]);
  }
  free(names);
  return n;
}
