// A record decoded on the heap: its pointers are moved into the object, the record is freed.
// FINDINGS: "decode records whose pointers are moved into heap objects"; ownership moves.
// Wrong: 'raw' reported; 'name' missed (allocated for the record, owned by the object afterwards).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct name { // CHECK: name [[@LINE]]
  int length;
  char bytes[60];
};
struct raw {
  unsigned version, flags;
  struct name *first, *last;
};
struct person { // CHECK: person [[@LINE]]
  unsigned flags;
  struct name *first, *last;
  struct person *next;
};
static struct person *people;

static struct name *readName(FILE *f) {
  struct name *n = malloc(sizeof *n);
  fread(n, sizeof *n, 1, f);
  return n;
}
static struct raw *readRaw(FILE *f) {
  struct raw *r = calloc(1, sizeof *r);
  if (fread(&r->version, sizeof r->version, 1, f) != 1) {
    free(r);
    return NULL;
  }
  fread(&r->flags, sizeof r->flags, 1, f);
  r->first = readName(f);
  r->last = readName(f);
  return r;
}
static void build(struct raw *r) {
  struct person *p = malloc(sizeof *p);
  p->flags = r->flags;
  p->first = r->first;
  p->last = r->last;
  p->next = people;
  people = p;
}

int load(const char *path) {
  struct raw *r;
  FILE *f = fopen(path, "rb");
  while ((r = readRaw(f))) {
    build(r);
    free(r);
  }
  fclose(f);
  return 0;
}
