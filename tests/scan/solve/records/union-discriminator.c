// What a union member points to depends on a kind.
// Unions with discriminators.
// Wrong: 'pair' or 'blob' missed; the union itself may go either way.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct value;
struct blob { // CHECK: blob [[@LINE]]
  unsigned size;
  char bytes[];
};
struct pair { // CHECK: pair [[@LINE]]
  struct value *first, *second;
};
union payload { // either
  long number;
  double real;
  struct blob *blob;
  struct pair *pair;
};
struct value { // CHECK: value [[@LINE]]
  int kind;
  union payload is;
};
static struct value *root;

static struct value *readValue(FILE *f) {
  struct value *v = malloc(sizeof *v);
  unsigned size;
  switch (v->kind = getc(f)) {
  case 0:
    fread(&v->is.number, sizeof v->is.number, 1, f);
    break;
  case 1:
    fread(&size, sizeof size, 1, f);
    v->is.blob = malloc(sizeof(struct blob) + size);
    v->is.blob->size = size;
    fread(v->is.blob->bytes, 1, size, f);
    break;
  default:
    v->is.pair = malloc(sizeof *v->is.pair);
    v->is.pair->first = readValue(f);
    v->is.pair->second = readValue(f);
  }
  return v;
}

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  root = readValue(f);
  fclose(f);
  return 0;
}
