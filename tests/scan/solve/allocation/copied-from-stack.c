// A record is read into a local, completed, and copied as a whole into an element on the heap.
// FINDINGS: "structs by value inside others, copied from a stack local"; design 2: staged objects.
// Wrong: 'payload' missed (the copy is the only place where its pointer reaches the heap).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct payload { // CHECK: payload [[@LINE]]
  unsigned size;
  unsigned char bytes[64];
};
struct value { // either
  int kind;
  struct payload *data;
};
struct slot { // CHECK: slot [[@LINE]]
  struct value value;
  struct slot *next;
};
static struct slot *slots;

static void keep(struct value v) {
  struct slot *s = malloc(sizeof *s);
  s->value = v;
  s->next = slots;
  slots = s;
}

int load(const char *path) {
  struct value v;
  FILE *f = fopen(path, "rb");
  while (fread(&v.kind, sizeof v.kind, 1, f) == 1) {
    v.data = malloc(sizeof *v.data);
    fread(&v.data->size, sizeof v.data->size, 1, f);
    fread(v.data->bytes, 1, v.data->size, f);
    keep(v);
  }
  fclose(f);
  return 0;
}
