// The load function is given the program's state and a stream with a refill function that stands in
// another program: nobody is seen to read. The stream is the input, the state is not.
// Load forms: own stream beside the state that is filled.
// Wrong: 'function' or 'constant' missed, 'ledger' found.
// RUN: %scan --format=json --load undump %s -- | %types
#include <stdlib.h>
#include <string.h>

struct stream {
  size_t left;
  const char *at;
  const char *(*refill)(void *data, size_t *size);
  void *data;
};
struct constant { // CHECK: constant [[@LINE]]
  int value;
};
struct function { // CHECK: function [[@LINE]]
  int lines;
  struct constant *constants;
  struct function *next;
};
struct ledger {
  unsigned used;
  struct ledger *next;
};
struct state { // either
  struct function *all;
  struct ledger *ledgers;
  unsigned used;
};

static void get(struct stream *s, void *to, size_t size) {
  if (s->left < size) {
    s->at = s->refill(s->data, &s->left);
    if (!s->at)
      return;
  }
  memcpy(to, s->at, size);
  s->at += size;
  s->left -= size;
}

static void *allocate(struct state *l, size_t size) {
  l->used += size;
  return malloc(size);
}

static void account(struct state *l) {
  struct ledger *made = malloc(sizeof *made);
  made->used = l->used;
  made->next = l->ledgers;
  l->ledgers = made;
}

int undump(struct state *l, struct stream *s) {
  struct function *f = allocate(l, sizeof *f);
  int i;
  account(l);
  get(s, &f->lines, sizeof f->lines);
  f->constants = allocate(l, f->lines * sizeof(struct constant));
  for (i = 0; i < f->lines; ++i)
    get(s, &f->constants[i].value, sizeof f->constants[i].value);
  f->next = l->all;
  l->all = f;
  return f->lines;
}
