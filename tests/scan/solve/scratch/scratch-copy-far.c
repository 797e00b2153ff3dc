// A copy of what is built, made in scratch memory two calls from the input, is no input: what is
// shown of it far away is no data.
// Wrong: 'window' reported.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item { // CHECK: item [[@LINE]]
  struct item *next;
  int number;
};
struct window {
  int shown, row;
};
struct item *items;
struct window *windows;

static void show8(struct item *i) {
  struct window *w = calloc(1, sizeof *w);
  w->shown = i->number;
  windows = w;
}
static void show7(struct item *i) { show8(i); }
static void show6(struct item *i) { show7(i); }
static void show5(struct item *i) { show6(i); }
static void show4(struct item *i) { show5(i); }
static void show3(struct item *i) { show4(i); }

static void show2(struct item *i) {
  struct item *copy = malloc(sizeof *copy);
  copy->number = i->number;
  copy->next = NULL;
  show3(copy);
  free(copy);
}
static void show(struct item *i) { show2(i); }

void load(const char *path) {
  FILE *f = fopen(path, "r");
  for (int n; fscanf(f, "%d", &n) == 1;) {
    struct item *made = malloc(sizeof *made);
    made->number = n;
    made->next = items;
    items = made;
    show(made);
  }
  fclose(f);
}
