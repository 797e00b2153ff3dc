// Loaders in a list of tables are told nothing but a number: what they read from, and what they
// fill, are global variables. What one of their functions makes meanwhile, another frees.
// Wrong: 'module' or 'sample' missed, 'header' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
  FILE *file;
};
static struct reader *reader;

struct sample { // CHECK: sample [[@LINE]]
  char name[22];
  unsigned length;
};
struct module { // CHECK: module [[@LINE]]
  char title[20];
  unsigned samples_count, speed, tempo;
  struct sample *samples;
};
static struct module current;

struct loader {
  int (*init)(void);
  int (*load)(int curious);
  void (*cleanup)(void);
};
struct header {
  char title[20];
  unsigned char samples, speed, tempo;
};
static struct header *header;

static int init(void) {
  header = calloc(1, sizeof *header);
  return header != NULL;
}
static int loadOne(int curious) {
  unsigned i;
  fread(header, sizeof *header, 1, reader->file);
  memcpy(current.title, header->title, sizeof current.title);
  current.speed = header->speed;
  current.tempo = header->tempo;
  current.samples_count = header->samples;
  current.samples = calloc(current.samples_count, sizeof(struct sample));
  for (i = 0; i != current.samples_count; ++i)
    fread(current.samples[i].name, 22, 1, reader->file);
  return curious;
}
static void cleanup(void) {
  free(header);
  header = NULL;
}
#define OTHER(n)                                                                                   \
  static int init##n(void) { return n; }                                                           \
  static int load##n(int curious) { return curious + n; }                                          \
  static void cleanup##n(void) {}                                                                  \
  struct loader loader##n = {init##n, load##n, cleanup##n};
OTHER(1) OTHER(2) OTHER(3) OTHER(4) OTHER(5) OTHER(6) OTHER(7) OTHER(8) OTHER(9)
struct loader loader0 = {init, loadOne, cleanup};
struct loader *loaders[10];

struct module *load(const char *path, int kind) {
  struct loader *l = loaders[kind];
  struct module *made;
  reader = malloc(sizeof *reader);
  reader->file = fopen(path, "r");
  if (!l->init || l->init())
    l->load(0);
  if (l->cleanup)
    l->cleanup();
  made = malloc(sizeof *made);
  memcpy(made, &current, sizeof *made);
  return made;
}
