// What a save frees on its way is not what it saves: destructors reach everything.
// Wrong: 'waiting' reported.
// RUN: %scan --format=json --load load --save save %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
  char name[20];
  struct waiting *next;
};
struct value { // CHECK: value [[@LINE]]
  int references, kind;
  char text[20];
  struct value *next;
};
static struct value *values;
static struct waiting *queue;

static void forget(struct waiting *w) {
  while (w && w->name[0])
    w = w->next;
}
static void release(struct value *v) {
  if (v->references == 1) {
    switch (v->kind) {
    case 0:
      break;
    case 1:
      forget(queue);
      break;
    default:
      abort();
    }
    free(v);
  } else {
    v->references--;
  }
}

void save(const char *path) {
  struct value *v;
  FILE *f = fopen(path, "w");
  for (v = values; v; v = v->next) {
    v->references++;
    fputs(v->text, f);
    release(v);
  }
  fclose(f);
}

void load(const char *path) {
  char line[20];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct value *v = calloc(1, sizeof *v);
    struct waiting *w = calloc(1, sizeof *w);
    strcpy(v->text, line);
    v->next = values;
    values = v;
    strcpy(w->name, line);
    w->next = queue;
    queue = w;
  }
  fclose(f);
}
