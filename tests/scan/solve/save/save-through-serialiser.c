// The save walks containers of void * and calls serialisers through a table; bulk structures are
// written without naming a field.
// Design 4: --save must not drop what is saved without naming its fields.
// Wrong: 'sample' (written as bytes) or 'series' (written through the table) dropped.
// RUN: %scan --format=json --load load --save save %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct cell { // CHECK: cell [[@LINE]]
  void *value;
  struct cell *next;
};
struct sample { // CHECK: sample [[@LINE]]
  long when;
  double value;
};
struct series { // CHECK: series [[@LINE]]
  size_t count;
  struct sample *samples;
};
struct kind {
  void *(*read)(FILE *f);
  void (*write)(FILE *f, void *value);
};
static struct cell *all;

static void *readSeries(FILE *f) {
  struct series *s = malloc(sizeof *s);
  fread(&s->count, sizeof s->count, 1, f);
  s->samples = malloc(s->count * sizeof *s->samples);
  fread(s->samples, sizeof *s->samples, s->count, f);
  return s;
}
static void put(FILE *f, const void *from, size_t n) { fwrite(from, 1, n, f); }
static void writeSeries(FILE *f, void *value) {
  struct series *s = value;
  put(f, &s->count, sizeof s->count);
  put(f, s->samples, s->count * sizeof *s->samples);
}
static const struct kind seriesKind = {readSeries, writeSeries};

int load(const char *path) {
  FILE *f = fopen(path, "rb");
  while (getc(f) == 'S') {
    struct cell *c = malloc(sizeof *c);
    c->value = seriesKind.read(f);
    c->next = all;
    all = c;
  }
  fclose(f);
  return 0;
}
int save(const char *path) {
  struct cell *c;
  FILE *f = fopen(path, "wb");
  for (c = all; c; c = c->next) {
    putc('S', f);
    seriesKind.write(f, c->value);
  }
  return fclose(f);
}
