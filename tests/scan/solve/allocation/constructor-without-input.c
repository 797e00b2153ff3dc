// A constructor is given the state and no input; its caller then puts input where the state leads.
// The same as a handler, beside one that is given the text; and with a builder on the stack.
// Wrong: any of the three missed. 'lock' reported: nothing that was read comes near it.
// RUN: %scan --format=json --load load %s -- -std=gnu99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rec { // CHECK: rec [[@LINE]]
  struct rec *next;
  long v;
};
struct name { // CHECK: name [[@LINE]]
  struct name *next;
  char *text;
};
struct term { // CHECK: term [[@LINE]]
  struct term *next;
  int power;
};
struct lock {
  int depth;
};
struct db {
  struct rec *recs;
  struct name *names;
  struct term *terms;
  struct lock *lock;
  int line;
};
struct builder {
  struct term *first;
};

static void make_record(struct db *d) {
  struct rec *r = calloc(1, sizeof *r);
  r->next = d->recs;
  d->recs = r;
}
static void make_lock(struct db *d) { d->lock = calloc(1, sizeof *d->lock); }
static void on_begin(struct db *d) {
  struct name *n = calloc(1, sizeof *n);
  n->next = d->names;
  d->names = n;
}
static void on_text(struct db *d, const char *text) { d->names->text = strdup(text); }
static void open_term(struct builder *b) {
  struct term *t = calloc(1, sizeof *t);
  t->next = b->first;
  b->first = t;
}
static struct term *read_terms(FILE *f) {
  struct builder b = {0};
  int power;
  while (fscanf(f, "%d", &power) == 1) {
    open_term(&b);
    b.first->power = power;
  }
  return b.first;
}
void load(struct db *d, FILE *f) {
  int c;
  char text[80];
  make_lock(d);
  while ((c = fgetc(f)) != EOF) {
    make_record(d);
    d->recs->v = c;
    d->line++;
  }
  while (fgets(text, sizeof text, f)) {
    on_begin(d);
    on_text(d, text);
  }
  d->terms = read_terms(f);
}
