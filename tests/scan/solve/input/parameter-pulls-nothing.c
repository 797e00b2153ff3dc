// The load is given the application object; a function that gets only that has nothing to do with
// the input.
// Rule 5: "an object that only came in as a load parameter does not" pull in functions.
// Wrong: 'window' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct window {
  int width, height;
};
struct note { // CHECK: note [[@LINE]]
  int color;
  char text[100];
  struct note *next;
};
struct application { // either
  struct window *window;
  struct note *notes;
  int dirty, verbose, counter, theme, zoom, scroll;
};

static void showProgress(struct application *app) {
  if (!app->window) {
    app->window = malloc(sizeof *app->window);
    app->window->width = 80;
    app->window->height = 25;
  }
  ++app->counter;
}

int load(struct application *app, const char *path) {
  int color;
  FILE *f = fopen(path, "rb");
  while (fread(&color, sizeof color, 1, f) == 1) {
    struct note *n = malloc(sizeof *n);
    n->color = color;
    fread(n->text, 1, sizeof n->text, f);
    n->next = app->notes;
    app->notes = n;
    showProgress(app);
  }
  fclose(f);
  return 0;
}
