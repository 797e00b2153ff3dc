// --algorithm=nvmove reports every type of the program that is assigned on the way: also cursors,
// iterators and frees; not types of system headers, and nothing behind a pointer to a function
// ("currently do not support ... function pointers that are dynamically followed").
// Wrong: precision that the baseline does not have, or types it cannot see.
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- | %types
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- | FileCheck %s --check-prefix=NAME
// NAME: "algorithm": "nvmove"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct cursor { // CHECK: cursor [[@LINE]]
  int line;
};
struct data { // CHECK: data [[@LINE]]
  int value;
};
struct unread {
  int value;
};
struct hidden {
  int value;
};
static struct data *all[8];
static struct hidden *hidden;

static void keepHidden(FILE *f) {
  hidden = malloc(sizeof *hidden);
  hidden->value = getc(f);
}
void (*hook)(FILE *) = keepHidden;

int readOnly(const struct unread *u) { return u->value; }

static void advance(struct cursor *c) { ++c->line; }

int load(FILE *f, const struct unread *u) {
  struct cursor c;
  struct tm when;
  c.line = 0;
  when.tm_year = readOnly(u);
  while (c.line < 8) {
    struct data *d = malloc(sizeof *d);
    d->value = getc(f) + when.tm_year;
    all[c.line] = d;
    advance(&c);
  }
  hook(f);
  return 0;
}
