// Kinds of nodes begin with a common head; the program keeps pointers to the head.
// FINDINGS: "first-member inheritance".
// Wrong: only 'head'; or 'circle' and 'label' missed because they were stored as 'head'.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

enum kind { Circle, Label };
struct head { // either
  enum kind kind;
  struct head *next;
};
struct circle { // CHECK: circle [[@LINE]]
  struct head head;
  double radius;
};
struct label { // CHECK: label [[@LINE]]
  struct head head;
  char text[32];
};
struct polygon {
  struct head head;
  int corners;
};
static struct head *scene;

struct polygon *newPolygon(int corners) {
  struct polygon *p = malloc(sizeof *p);
  p->corners = corners;
  p->head.next = scene;
  return p;
}

static struct head *readNode(FILE *f, enum kind kind) {
  if (kind == Circle) {
    struct circle *c = malloc(sizeof *c);
    fread(&c->radius, sizeof c->radius, 1, f);
    c->head.kind = kind;
    return &c->head;
  } else {
    struct label *l = malloc(sizeof *l);
    fread(l->text, 1, sizeof l->text, f);
    ((struct head *)l)->kind = kind;
    return (struct head *)l;
  }
}

int load(const char *path) {
  enum kind kind;
  FILE *f = fopen(path, "rb");
  while (fread(&kind, sizeof kind, 1, f) == 1) {
    struct head *h = readNode(f, kind);
    h->next = scene;
    scene = h;
  }
  fclose(f);
  return 0;
}
