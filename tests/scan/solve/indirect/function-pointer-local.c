// The reader of a format is chosen into a local pointer to function, and called later.
// Function pointers in locals.
// Wrong: 'oldEntry' or 'newEntry' missed; 'preview' (same signature, not chosen) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct oldEntry { // CHECK: oldEntry [[@LINE]]
  int id;
  struct oldEntry *next;
};
struct newEntry { // CHECK: newEntry [[@LINE]]
  int id, flags;
  struct newEntry *next;
};
struct preview {
  int id;
};
static struct oldEntry *oldEntries;
static struct newEntry *newEntries;
static struct preview *preview;

static int readOld(FILE *f) {
  struct oldEntry *e = malloc(sizeof *e);
  e->next = oldEntries;
  oldEntries = e;
  return fread(&e->id, sizeof e->id, 1, f);
}
static int readNew(FILE *f) {
  struct newEntry *e = malloc(sizeof *e);
  e->next = newEntries;
  newEntries = e;
  return fread(&e->id, sizeof e->id, 1, f) && fread(&e->flags, sizeof e->flags, 1, f);
}
static int readPreview(FILE *f) {
  preview = malloc(sizeof *preview);
  return fread(&preview->id, sizeof preview->id, 1, f);
}
int (*previewer)(FILE *) = readPreview;

int load(const char *path) {
  int (*entry)(FILE *);
  FILE *f = fopen(path, "rb");
  entry = getc(f) < 3 ? readOld : &readNew;
  while (entry(f))
    ;
  fclose(f);
  return 0;
}
