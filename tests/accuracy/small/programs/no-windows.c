// What is loaded is shown at once, in a window made for it.
// load: open_file
// must: row
// never: win
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct row { char *chars; int size; struct row *next; };
struct win { int top, left, height, width; struct win *stack; };
static struct row *rows;
static struct win *windows;
static struct win *win_new(int h, int w) {
  struct win *n = calloc(1, sizeof *n);
  n->height = h;
  n->width = w;
  n->stack = windows;
  windows = n;
  return n;
}
static void show(struct win *w) {
  for (struct row *r = rows; r; r = r->next)
    printf("%*s%.*s\n", w->left, "", w->width, r->chars);
}
int open_file(const char *name) {
  char line[1024];
  FILE *f = fopen(name, "r");
  if (!f)
    return -1;
  while (fgets(line, sizeof line, f)) {
    struct row *r = malloc(sizeof *r);
    r->size = strlen(line);
    r->chars = strdup(line);
    r->next = rows;
    rows = r;
  }
  fclose(f);
  show(win_new(24, 80));
  return 0;
}
