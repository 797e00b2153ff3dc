// The only root is a variable inside a function; another is thread-local.
// Design 3: globals, wherever they are declared.
// Wrong: 'phrase' or 'cache' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct phrase { // CHECK: phrase [[@LINE]]
  char *text;
  struct phrase *next;
};
struct recent { // CHECK: recent [[@LINE]]
  int line;
};
static __thread struct recent *last;

static struct phrase **phrases(void) {
  static struct phrase *all;
  return &all;
}

int load(const char *path) {
  char line[200];
  int n = 0;
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct phrase *p = malloc(sizeof *p);
    p->text = strdup(line);
    p->next = *phrases();
    *phrases() = p;
    last = malloc(sizeof *last);
    last->line = sscanf(line, "%d", &n) ? n : 0;
  }
  fclose(f);
  return 0;
}
