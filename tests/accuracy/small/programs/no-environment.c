// Options come from the environment, data from the file.
// load: load_bookmarks
// must: bookmark
// never: option
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct option { const char *name; const char *value; struct option *next; };
struct bookmark { char *url; struct bookmark *next; };
static struct option *options;
static struct bookmark *bookmarks;
static void option_from(const char *name) {
  struct option *o = malloc(sizeof *o);
  o->name = name;
  o->value = getenv(name);
  o->next = options;
  options = o;
}
int load_bookmarks(void) {
  char path[300], url[500];
  option_from("BROWSER");
  option_from("PAGER");
  snprintf(path, sizeof path, "%s/.bookmarks", getenv("HOME"));
  FILE *f = fopen(path, "r");
  while (f && fscanf(f, "%499s", url) == 1) {
    struct bookmark *b = malloc(sizeof *b);
    b->url = strdup(url);
    b->next = bookmarks;
    bookmarks = b;
  }
  return f ? fclose(f) : 0;
}
