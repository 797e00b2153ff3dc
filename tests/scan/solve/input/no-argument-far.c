// A function that takes nothing is as far from the input as who calls it: what is shown of the data
// eight calls away is no data.
// Wrong: 'window' reported.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct item { // CHECK: item [[@LINE]]
  struct item *next;
  int number;
};
struct window {
  struct item *shown;
  int row;
};
struct item *items;
struct window *windows;

static struct window *show8(struct item *i) {
  struct window *w = calloc(1, sizeof *w);
  w->shown = i;
  return w;
}
static struct window *show7(void) { return show8(items); }
static void show6(struct item *i) {
  if (i)
    windows = show7();
}
static void show5(struct item *i) { show6(i); }
static void show4(struct item *i) { show5(i); }
static void show3(struct item *i) { show4(i); }
static void show2(struct item *i) { show3(i); }
static void show1(struct item *i) { show2(i); }
static void show(struct item *i) { show1(i); }

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
