// One constructor makes values of every kind by their size and installs the hook it is given.
// Wrong: 'value' reported, which is only their base, and all four kinds missed (the sizes met in
// one place: a function that takes a pointer to a function was held for one that takes an object).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

typedef void print_hook(const void *value, FILE *out);
struct value {
  int kind;
  print_hook *print;
};
struct integer { // CHECK: integer [[@LINE]]
  struct value base;
  long number;
};
struct real { // CHECK: real [[@LINE]]
  struct value base;
  double number;
};
struct pair { // CHECK: pair [[@LINE]]
  struct value base;
  struct value *first, *second;
};
struct flag { // CHECK: flag [[@LINE]]
  struct value base;
  char set;
};
static struct value *root;

static struct value *make(int kind, size_t size, print_hook *print) {
  struct value *v = malloc(size);
  v->kind = kind;
  v->print = print;
  return v;
}

static void print_number(const void *value, FILE *out) {
  fprintf(out, "%ld", ((const struct integer *)value)->number);
}

static struct value *read_value(FILE *f) {
  switch (getc(f)) {
  case 'i': {
    struct integer *i = (struct integer *)make('i', sizeof *i, print_number);
    fscanf(f, "%ld", &i->number);
    return &i->base;
  }
  case 'r': {
    struct real *r = (struct real *)make('r', sizeof *r, NULL);
    fscanf(f, "%lf", &r->number);
    return &r->base;
  }
  case 'f': {
    struct flag *b = (struct flag *)make('f', sizeof *b, NULL);
    b->set = (char)getc(f);
    return &b->base;
  }
  default: {
    struct pair *p = (struct pair *)make('p', sizeof *p, NULL);
    p->first = read_value(f);
    p->second = read_value(f);
    return &p->base;
  }
  }
}

int load(const char *path) {
  FILE *f = fopen(path, "r");
  root = read_value(f);
  fclose(f);
  return 0;
}
