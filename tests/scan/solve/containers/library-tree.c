// The search tree of libc: tsearch keeps the objects, twalk and tdelete call back with them.
// FINDINGS: "containers of external libraries"; library callbacks.
// Wrong: 'word' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word { // CHECK: word [[@LINE]]
  unsigned count;
  char text[28];
};
static void *words;

static int order(const void *a, const void *b) {
  return strcmp(((const struct word *)a)->text, ((const struct word *)b)->text);
}

int load(FILE *f) {
  char text[28];
  while (fscanf(f, "%27s", text) == 1) {
    struct word *w = calloc(1, sizeof *w), **there;
    strcpy(w->text, text);
    there = tsearch(w, &words, order);
    if (*there != w)
      free(w);
    (*there)->count++;
  }
  return 0;
}
