// The load leaves a queue of waiting clients behind; the program never saves it.
// Design 4: --save removes per-process leftovers.
// Wrong: with --save, 'waiter' reported; or 'key' or 'text' dropped with it.
// RUN: %scan --format=json --load load %s -- | %types --check-prefixes=CHECK,LOAD
// RUN: %scan --format=json --load load --save save %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct waiter { // LOAD: waiter [[@LINE]]
  int client;
  struct waiter *next;
};
struct text { // CHECK: text [[@LINE]]
  int length;
  char *bytes;
};
struct key { // CHECK: key [[@LINE]]
  struct text *name, *value;
  struct waiter *waiters;
  struct key *next;
};
static struct key *keys;

static struct text *readText(FILE *f) {
  struct text *t = malloc(sizeof *t);
  fread(&t->length, sizeof t->length, 1, f);
  t->bytes = malloc(t->length);
  fread(t->bytes, 1, t->length, f);
  return t;
}
static void wait(struct key *k, int client) {
  struct waiter *w = malloc(sizeof *w);
  w->client = client;
  w->next = k->waiters;
  k->waiters = w;
}

int load(const char *path) {
  int c;
  FILE *f = fopen(path, "rb");
  while ((c = getc(f)) != EOF) {
    struct key *k = calloc(1, sizeof *k);
    k->name = readText(f);
    k->value = readText(f);
    wait(k, -1);
    k->next = keys;
    keys = k;
  }
  fclose(f);
  return 0;
}

static void writeText(FILE *f, const struct text *t) {
  fwrite(&t->length, sizeof t->length, 1, f);
  fwrite(t->bytes, 1, t->length, f);
}
int save(const char *path) {
  struct key *k;
  FILE *f = fopen(path, "wb");
  for (k = keys; k; k = k->next) {
    putc(1, f);
    writeText(f, k->name);
    writeText(f, k->value);
  }
  return fclose(f);
}
