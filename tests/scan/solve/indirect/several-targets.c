// A hook with four possible targets is given what is built and linked, no input: which of them it
// is cannot be told, and what they keep is not the load's.
// Wrong: one of the notes reported.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct item { // CHECK: item [[@LINE]]
  struct item *next;
  int number;
};
struct item *items;

struct note1 {
  struct item *last;
} *note1;
struct note2 {
  struct item *last;
} *note2;
struct note3 {
  struct item *last;
} *note3;
struct note4 {
  struct item *last;
} *note4;

#define HOOK(NAME)                                                                                 \
  void on_##NAME(struct item *i) {                                                                 \
    NAME = malloc(sizeof *NAME);                                                                   \
    NAME->last = i;                                                                                \
  }
HOOK(note1)
HOOK(note2)
HOOK(note3)
HOOK(note4)

struct watcher {
  void (*added)(struct item *);
};
struct watcher watcher;

void choose(int which) {
  watcher.added = which == 1 ? on_note1 : which == 2 ? on_note2 : which == 3 ? on_note3 : on_note4;
}

void load(const char *path) {
  FILE *f = fopen(path, "r");
  for (int n; fscanf(f, "%d", &n) == 1;) {
    struct item *made = malloc(sizeof *made);
    made->number = n;
    made->next = items;
    items = made;
    watcher.added(items);
  }
  fclose(f);
}
