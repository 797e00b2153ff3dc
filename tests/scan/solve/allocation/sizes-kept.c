// A record of sizes that many types pass through says nothing about the memory it is asked for.
// Wrong: 'alpha' to 'delta' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alpha { int a; };
struct beta { int b[2]; };
struct gamma { int c[3]; };
struct delta { int d[4]; };
struct line { // CHECK: line [[@LINE]]
  char *text;
  struct line *next;
};
struct sizes {
  unsigned width;
};
static struct sizes sizes;
static struct line *lines;

static void widen(unsigned width) {
  if (sizes.width < width)
    sizes.width = width;
}

int load(const char *path) {
  char text[64];
  FILE *f = fopen(path, "r");
  widen(sizeof(struct alpha));
  widen(sizeof(struct beta));
  widen(sizeof(struct gamma));
  widen(sizeof(struct delta));
  while (fgets(text, sizeof text, f)) {
    struct line *l = malloc(sizeof *l);
    l->text = malloc(sizes.width);
    strncpy(l->text, text, sizes.width);
    l->next = lines;
    lines = l;
  }
  fclose(f);
  return 0;
}
